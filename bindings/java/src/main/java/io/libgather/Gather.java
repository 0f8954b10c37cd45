package io.libgather;

import static io.libgather.Given.given;

import java.lang.foreign.Arena;

/**
 * Gathers, scatters and gradients.
 *
 * <p>All methods have these rules. Operands are only read, except for the output of a method with {@code Into} in its
 * name. A new result has native memory that the garbage collector frees, or memory of the arena in {@link #make}.
 * Indices have any of the eight integer dtypes. Threads may call all methods at the same time. {@link Params} may be
 * {@link Packed} rows or a {@link Table} in files.
 *
 * <p>Methods throw these exceptions:
 *
 * <ul>
 *   <li>{@link GatherIndexException} if an index is out of bounds
 *   <li>{@link GatherArgumentException} for invalid shapes, dtypes, options or memory
 *   <li>{@link GatherUnsupportedException} for operands that the library does not support
 *   <li>{@link GatherStateException} if another thread changes indices during the call
 *   <li>{@link GatherSystemException} if a file of a table cannot be read
 * </ul>
 *
 * <p>If a method throws, its output is unchanged. There are three cases in which rows may have been written: a {@link
 * GatherStateException}, a {@link GatherSystemException} of a file, and a {@link GatherIndexException} with {@link
 * Bounds#ERROR_PARTIAL}.
 *
 * <pre>{@code
 * Tensor table = Tensor.of(new float[] {0, 1, 10, 11, 20, 21, 30, 31}, 4, 2);
 * Tensor ids = Tensor.of(new long[] {3, 0});
 * float[] rows = Gather.gather(table, ids).toFloatArray(); // 30, 31, 0, 1
 *
 * float[] sums = new float[8];
 * Options add = Options.builder().reduction(Reduction.ADD).build();
 * Gather.scatterInto(Tensor.of(sums, 4, 2), ids, Tensor.of(rows, 2, 2), add); // 0, 1, 0, 0, 0, 0, 30, 31
 * }</pre>
 */
public final class Gather {
  private Gather() {}

  /**
   * Takes slices along an axis, as tf.gather, ONNX Gather, numpy.take and torch.index_select.
   *
   * <p>{@code out.shape = params.shape[:axis] + indices.shape[batchDims:] + params.shape[axis+1:]}
   *
   * @param params the source
   * @param indices the indices
   * @return a new tensor
   * @throws GatherIndexException if an index is out of bounds
   */
  public static Tensor gather(Params params, Tensor indices) {
    return gather(params, indices, Options.DEFAULT);
  }

  /**
   * Takes slices along an axis, as tf.gather, ONNX Gather, numpy.take and torch.index_select.
   *
   * @param params the source
   * @param indices the indices
   * @param options the options
   * @return a new tensor
   * @throws GatherIndexException if an index is out of bounds
   */
  public static Tensor gather(Params params, Tensor indices, Options options) {
    return make(Arena.ofAuto(), Operation.GATHER, params, indices, options);
  }

  /**
   * Does what {@link #gatherInto(Tensor, Tensor, Tensor, Options)} does, with the default options.
   *
   * @param out the output, which is written and overlaps no other operand
   * @param params the source
   * @param indices the indices
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void gatherInto(Tensor out, Params params, Tensor indices) {
    gatherInto(out, params, indices, Options.DEFAULT);
  }

  /**
   * Does what {@link #gather(Tensor, Tensor, Options)} does, with an existing output.
   *
   * @param out the output, which is written and overlaps no other operand
   * @param params the source
   * @param indices the indices
   * @param options the options
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void gatherInto(Tensor out, Params params, Tensor indices, Options options) {
    Calls.run(Operation.GATHER, params, indices, out, options);
  }

  /**
   * Takes slices by tuples of indices, as tf.gather_nd, ONNX GatherND and x[i, j].
   *
   * <p>{@code out.shape = indices.shape[:-1] + params.shape[batchDims + indices.shape[-1]:]}
   *
   * @param params the source
   * @param indices the indices
   * @return a new tensor
   * @throws GatherIndexException if an index is out of bounds
   */
  public static Tensor gatherNd(Params params, Tensor indices) {
    return gatherNd(params, indices, Options.DEFAULT);
  }

  /**
   * Takes slices by tuples of indices, as tf.gather_nd, ONNX GatherND and x[i, j].
   *
   * @param params the source
   * @param indices the indices
   * @param options the options
   * @return a new tensor
   * @throws GatherIndexException if an index is out of bounds
   */
  public static Tensor gatherNd(Params params, Tensor indices, Options options) {
    return make(Arena.ofAuto(), Operation.GATHER_ND, params, indices, options);
  }

  /**
   * Does what {@link #gatherNdInto(Tensor, Tensor, Tensor, Options)} does, with the default options.
   *
   * @param out the output, which is written and overlaps no other operand
   * @param params the source
   * @param indices the indices
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void gatherNdInto(Tensor out, Params params, Tensor indices) {
    gatherNdInto(out, params, indices, Options.DEFAULT);
  }

  /**
   * Does what {@link #gatherNd(Tensor, Tensor, Options)} does, with an existing output.
   *
   * @param out the output, which is written and overlaps no other operand
   * @param params the source
   * @param indices the indices
   * @param options the options
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void gatherNdInto(Tensor out, Params params, Tensor indices, Options options) {
    Calls.run(Operation.GATHER_ND, params, indices, out, options);
  }

  /**
   * Takes single elements along an axis, as torch.gather, ONNX GatherElements and numpy.take_along_axis.
   *
   * <p>{@code out.shape = indices.shape}
   *
   * @param params the source
   * @param indices the indices
   * @return a new tensor
   * @throws GatherIndexException if an index is out of bounds
   */
  public static Tensor gatherElements(Params params, Tensor indices) {
    return gatherElements(params, indices, Options.DEFAULT);
  }

  /**
   * Takes single elements along an axis, as torch.gather, ONNX GatherElements and numpy.take_along_axis.
   *
   * @param params the source
   * @param indices the indices
   * @param options the options
   * @return a new tensor
   * @throws GatherIndexException if an index is out of bounds
   */
  public static Tensor gatherElements(Params params, Tensor indices, Options options) {
    return make(Arena.ofAuto(), Operation.GATHER_ELEMENTS, params, indices, options);
  }

  /**
   * Does what {@link #gatherElementsInto(Tensor, Tensor, Tensor, Options)} does, with the default options.
   *
   * @param out the output, which is written and overlaps no other operand
   * @param params the source
   * @param indices the indices
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void gatherElementsInto(Tensor out, Params params, Tensor indices) {
    gatherElementsInto(out, params, indices, Options.DEFAULT);
  }

  /**
   * Does what {@link #gatherElements(Tensor, Tensor, Options)} does, with an existing output.
   *
   * @param out the output, which is written and overlaps no other operand
   * @param params the source
   * @param indices the indices
   * @param options the options
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void gatherElementsInto(Tensor out, Params params, Tensor indices, Options options) {
    Calls.run(Operation.GATHER_ELEMENTS, params, indices, out, options);
  }

  /**
   * Does what {@link #scatter(Tensor, Tensor, Tensor, Options)} does, with the default options.
   *
   * @param target the tensor that is copied
   * @param indices the indices
   * @param updates the updates, with the shape of the gather's output
   * @return a new tensor with the shape of target
   * @throws GatherIndexException if an index is out of bounds
   */
  public static Tensor scatter(Tensor target, Tensor indices, Tensor updates) {
    return scatter(target, indices, updates, Options.DEFAULT);
  }

  /**
   * Copies a target, and writes updates to the slices that {@link #gather(Tensor, Tensor, Options)} would read. The
   * last update of an element remains, unless the options have a reduction.
   *
   * @param target the tensor that is copied
   * @param indices the indices
   * @param updates the updates, with the shape of the gather's output
   * @param options the options
   * @return a new tensor with the shape of target
   * @throws GatherIndexException if an index is out of bounds
   */
  public static Tensor scatter(Tensor target, Tensor indices, Tensor updates, Options options) {
    return Calls.scatter(Arena.ofAuto(), Operation.SCATTER, target, indices, updates, options);
  }

  /**
   * Does what {@link #scatterInto(Tensor, Tensor, Tensor, Options)} does, with the default options.
   *
   * @param target the target, which is written and overlaps no other operand
   * @param indices the indices
   * @param updates the updates, with the shape of the gather's output
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void scatterInto(Tensor target, Tensor indices, Tensor updates) {
    scatterInto(target, indices, updates, Options.DEFAULT);
  }

  /**
   * Writes updates, in place, to the slices of a target that {@link #gather(Tensor, Tensor, Options)} would read.
   *
   * @param target the target, which is written and overlaps no other operand
   * @param indices the indices
   * @param updates the updates, with the shape of the gather's output
   * @param options the options
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void scatterInto(Tensor target, Tensor indices, Tensor updates, Options options) {
    Calls.run(Operation.SCATTER, target, indices, updates, options);
  }

  /**
   * Does what {@link #scatterNd(Tensor, Tensor, Tensor, Options)} does, with the default options.
   *
   * @param target the tensor that is copied
   * @param indices the indices
   * @param updates the updates, with the shape of the gather's output
   * @return a new tensor with the shape of target
   * @throws GatherIndexException if an index is out of bounds
   */
  public static Tensor scatterNd(Tensor target, Tensor indices, Tensor updates) {
    return scatterNd(target, indices, updates, Options.DEFAULT);
  }

  /**
   * Copies a target, and writes updates to the slices that {@link #gatherNd(Tensor, Tensor, Options)} would read. The
   * last update of an element remains, unless the options have a reduction.
   *
   * @param target the tensor that is copied
   * @param indices the indices
   * @param updates the updates, with the shape of the gather's output
   * @param options the options
   * @return a new tensor with the shape of target
   * @throws GatherIndexException if an index is out of bounds
   */
  public static Tensor scatterNd(Tensor target, Tensor indices, Tensor updates, Options options) {
    return Calls.scatter(Arena.ofAuto(), Operation.SCATTER_ND, target, indices, updates, options);
  }

  /**
   * Does what {@link #scatterNdInto(Tensor, Tensor, Tensor, Options)} does, with the default options.
   *
   * @param target the target, which is written and overlaps no other operand
   * @param indices the indices
   * @param updates the updates, with the shape of the gather's output
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void scatterNdInto(Tensor target, Tensor indices, Tensor updates) {
    scatterNdInto(target, indices, updates, Options.DEFAULT);
  }

  /**
   * Writes updates, in place, to the slices of a target that {@link #gatherNd(Tensor, Tensor, Options)} would read.
   *
   * @param target the target, which is written and overlaps no other operand
   * @param indices the indices
   * @param updates the updates, with the shape of the gather's output
   * @param options the options
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void scatterNdInto(Tensor target, Tensor indices, Tensor updates, Options options) {
    Calls.run(Operation.SCATTER_ND, target, indices, updates, options);
  }

  /**
   * Does what {@link #scatterElements(Tensor, Tensor, Tensor, Options)} does, with the default options.
   *
   * @param target the tensor that is copied
   * @param indices the indices
   * @param updates the updates, with the shape of the gather's output
   * @return a new tensor with the shape of target
   * @throws GatherIndexException if an index is out of bounds
   */
  public static Tensor scatterElements(Tensor target, Tensor indices, Tensor updates) {
    return scatterElements(target, indices, updates, Options.DEFAULT);
  }

  /**
   * Copies a target, and writes updates to the elements that {@link #gatherElements(Tensor, Tensor, Options)} would
   * read. The last update of an element remains, unless the options have a reduction.
   *
   * @param target the tensor that is copied
   * @param indices the indices
   * @param updates the updates, with the shape of the gather's output
   * @param options the options
   * @return a new tensor with the shape of target
   * @throws GatherIndexException if an index is out of bounds
   */
  public static Tensor scatterElements(Tensor target, Tensor indices, Tensor updates, Options options) {
    return Calls.scatter(Arena.ofAuto(), Operation.SCATTER_ELEMENTS, target, indices, updates, options);
  }

  /**
   * Does what {@link #scatterElementsInto(Tensor, Tensor, Tensor, Options)} does, with the default options.
   *
   * @param target the target, which is written and overlaps no other operand
   * @param indices the indices
   * @param updates the updates, with the shape of the gather's output
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void scatterElementsInto(Tensor target, Tensor indices, Tensor updates) {
    scatterElementsInto(target, indices, updates, Options.DEFAULT);
  }

  /**
   * Writes updates, in place, to the elements of a target that {@link #gatherElements(Tensor, Tensor, Options)} would
   * read.
   *
   * @param target the target, which is written and overlaps no other operand
   * @param indices the indices
   * @param updates the updates, with the shape of the gather's output
   * @param options the options
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void scatterElementsInto(Tensor target, Tensor indices, Tensor updates, Options options) {
    Calls.run(Operation.SCATTER_ELEMENTS, target, indices, updates, options);
  }

  /**
   * Finds the positions of the maxima or minima of a scatter: for each element of its result, the row-major number in
   * updates of the element that it has received.
   *
   * <p>Of equal elements, the first one has the position, and the first NaN if there is one. It is -1 if the result has
   * the element of target.
   *
   * @param scatter a scatter
   * @param target the target, which is only read
   * @param indices the indices
   * @param updates the updates, with the shape of the gather's output
   * @param options the options of the scatter, with {@link Reduction#MAX} or {@link Reduction#MIN}
   * @return a new tensor of int64 with the shape of target
   * @throws GatherIndexException if an index is out of bounds
   * @throws GatherArgumentException for another operation or another reduction
   */
  public static Tensor scatterPositions(
      Operation scatter, Tensor target, Tensor indices, Tensor updates, Options options) {
    ResultCall call = ResultCall.ofScatter(scatter, target, indices, updates, options);
    return Calls.newResult(call, DType.INT64, target.shape);
  }

  /**
   * Does what {@link #scatterPositions} does, with an existing result.
   *
   * @param scatter a scatter
   * @param positions the result, of int64, with the shape of target
   * @param target the target, which is only read
   * @param indices the indices
   * @param updates the updates, with the shape of the gather's output
   * @param options the options of the scatter, with {@link Reduction#MAX} or {@link Reduction#MIN}
   * @throws GatherIndexException if an index is out of bounds
   * @throws GatherArgumentException for another operation or another reduction
   */
  public static void scatterPositionsInto(
      Operation scatter, Tensor positions, Tensor target, Tensor indices, Tensor updates, Options options) {
    ResultCall.ofScatter(scatter, target, indices, updates, options).run(given(positions, "positions"));
  }

  /**
   * Computes the gradient of {@link #gather(Tensor, Tensor, Options)} with respect to params.
   *
   * @param gradient the gradient of the output
   * @param indices the indices of the gather
   * @param shape the shape of params
   * @param options the options of the gather
   * @return a new tensor with the shape of params
   * @throws GatherIndexException if an index is out of bounds
   */
  public static Tensor gatherGradient(Tensor gradient, Tensor indices, long[] shape, Options options) {
    return Calls.gradient(Arena.ofAuto(), Operation.GATHER_GRADIENT, gradient, indices, shape, options);
  }

  /**
   * Does what {@link #gatherGradient} does, with an existing target. All its elements are overwritten.
   *
   * @param target the result, with the shape of params
   * @param gradient the gradient of the gather's output
   * @param indices the indices of the gather
   * @param options the options of the gather
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void gatherGradientInto(Tensor target, Tensor gradient, Tensor indices, Options options) {
    Calls.run(Operation.GATHER_GRADIENT, target, indices, gradient, options);
  }

  /**
   * Computes the gradient of {@link #gatherNd(Tensor, Tensor, Options)} with respect to params.
   *
   * @param gradient the gradient of the output
   * @param indices the indices of the gather
   * @param shape the shape of params
   * @param options the options of the gather
   * @return a new tensor with the shape of params
   * @throws GatherIndexException if an index is out of bounds
   */
  public static Tensor gatherNdGradient(Tensor gradient, Tensor indices, long[] shape, Options options) {
    return Calls.gradient(Arena.ofAuto(), Operation.GATHER_ND_GRADIENT, gradient, indices, shape, options);
  }

  /**
   * Does what {@link #gatherNdGradient} does, with an existing target. All its elements are overwritten.
   *
   * @param target the result, with the shape of params
   * @param gradient the gradient of the gather's output
   * @param indices the indices of the gather
   * @param options the options of the gather
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void gatherNdGradientInto(Tensor target, Tensor gradient, Tensor indices, Options options) {
    Calls.run(Operation.GATHER_ND_GRADIENT, target, indices, gradient, options);
  }

  /**
   * Computes the gradient of {@link #gatherElements(Tensor, Tensor, Options)} with respect to params.
   *
   * @param gradient the gradient of the output
   * @param indices the indices of the gather
   * @param shape the shape of params
   * @param options the options of the gather
   * @return a new tensor with the shape of params
   * @throws GatherIndexException if an index is out of bounds
   */
  public static Tensor gatherElementsGradient(Tensor gradient, Tensor indices, long[] shape, Options options) {
    return Calls.gradient(Arena.ofAuto(), Operation.GATHER_ELEMENTS_GRADIENT, gradient, indices, shape, options);
  }

  /**
   * The same as {@link #gatherElementsGradient} with an existing target. All its elements are overwritten.
   *
   * @param target the result, with the shape of params
   * @param gradient the gradient of the gather's output
   * @param indices the indices of the gather
   * @param options the options of the gather
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void gatherElementsGradientInto(Tensor target, Tensor gradient, Tensor indices, Options options) {
    Calls.run(Operation.GATHER_ELEMENTS_GRADIENT, target, indices, gradient, options);
  }

  /**
   * Pools the rows of bags without weights, as {@link #gatherBags(Tensor, Tensor, Tensor, Tensor, Options)} does.
   *
   * @param params the source, of rank 1 or more
   * @param indices the ids
   * @param bags the numbers that divide ids into bags, or null if each row of indices is a bag
   * @param options the options
   * @return a new tensor
   * @throws GatherIndexException if an id is out of bounds
   * @throws GatherArgumentException if bags are invalid
   */
  public static Tensor gatherBags(Params params, Tensor indices, Tensor bags, Options options) {
    return gatherBags(params, indices, bags, null, options);
  }

  /**
   * Pools the rows of each bag of ids to one row, as torch.nn.EmbeddingBag and tf.nn.embedding_lookup_sparse. {@link
   * Options.Builder#pool} selects the sum, which is the default, the mean, the maximum or the minimum.
   *
   * <p>{@code out[b, :] = the pool of weights[k] * params[indices[k], :] for the ids k of bag b}
   *
   * <p>With bags, indices have rank 1. {@link Options.Builder#bagFormat} tells what bags are. By default they are
   * offsets: bag b has the ids from bags[b] up to bags[b + 1]. With {@link BagFormat#SEGMENTS}, {@link
   * Options.Builder#bagCount} is required. {@code out.shape = [number of bags] + params.shape[1:]}
   *
   * <p>If bags are null, each row of indices along the last dim is a bag. {@code out.shape = indices.shape[:-1] +
   * params.shape[1:]}
   *
   * <p>Params are integers, floating or complex numbers, except float8. Indices and bags have any integer dtype.
   * float16 and bfloat16 are added in float32, and {@link Options.Builder#outDType} can keep the float32.
   *
   * <p>The library validates bags before ids. If bags are invalid, it throws a {@link GatherArgumentException} with
   * {@link Status#OFFSETS}. {@link GatherFailure#details} then has the operand, and the position, the value and the
   * limit of the first invalid number.
   *
   * <p>With bags or weights, operands in arrays are copied for each call. So large params belong in native memory.
   *
   * <pre>{@code
   * Tensor vectors = Tensor.of(new float[] {1, 0, 0, 1, 2, 2}, 3, 2); // one vector for each of 3 words
   * Tensor words = Tensor.of(new int[] {0, 1, 2, 2}); // a sentence of the words 0, 1 and 2, and one of word 2
   * Tensor offsets = Tensor.of(new int[] {0, 3, 4});
   * Options mean = Options.builder().pool(Pool.MEAN).build();
   * float[] means = Gather.gatherBags(vectors, words, offsets, mean).toFloatArray(); // 1, 1, 2, 2
   * }</pre>
   *
   * @param params the source, of rank 1 or more
   * @param indices the ids
   * @param bags the numbers that divide ids into bags, or null if each row of indices is a bag
   * @param weights one number for each id, with the shape of indices and the dtype of params or float32; or null
   * @param options the options
   * @return a new tensor
   * @throws GatherIndexException if an id is out of bounds
   * @throws GatherArgumentException if bags are invalid
   */
  public static Tensor gatherBags(Params params, Tensor indices, Tensor bags, Tensor weights, Options options) {
    return Calls.gatherBags(Arena.ofAuto(), params, indices, bags, weights, options);
  }

  /**
   * Does what {@link #gatherBags(Tensor, Tensor, Tensor, Tensor, Options)} does, with an existing output.
   *
   * @param out the output, which is written and overlaps no other operand
   * @param params the source, of rank 1 or more
   * @param indices the ids
   * @param bags the numbers that divide ids into bags, or null if each row of indices is a bag
   * @param weights one number for each id, or null
   * @param options the options
   * @throws GatherIndexException if an id is out of bounds
   * @throws GatherArgumentException if bags are invalid
   */
  public static void gatherBagsInto(
      Tensor out, Params params, Tensor indices, Tensor bags, Tensor weights, Options options) {
    Calls.gatherBags(out, params, indices, bags, weights, options);
  }

  /**
   * Computes the gradient of {@link #gatherBags(Tensor, Tensor, Tensor, Tensor, Options)} with respect to params.
   *
   * <p>Each row of the result is the sum of the gradients of the bags that have read the row, in the order of the ids.
   * So it does not depend on the number of threads. With {@link Pool#MAX} and {@link Pool#MIN}, the first of equal
   * elements receives the gradient. Errors name the gradient {@link OperandName#UPDATES}, and the result {@link
   * OperandName#TARGET}.
   *
   * @param gradient the gradient of the output
   * @param params the source; its memory is read for the maximum and the minimum only
   * @param indices the ids
   * @param bags the numbers that divide ids into bags, or null if each row of indices is a bag
   * @param weights one number for each id, or null
   * @param options the options of the call
   * @return a new tensor with the shape of params
   * @throws GatherIndexException if an id is out of bounds
   * @throws GatherArgumentException if bags are invalid
   */
  public static Tensor gatherBagsGradient(
      Tensor gradient, Tensor params, Tensor indices, Tensor bags, Tensor weights, Options options) {
    ResultCall call = ResultCall.of(false, gradient, params, indices, bags, weights, options);
    return Calls.newResult(call, params.dtype, params.shape);
  }

  /**
   * Does what {@link #gatherBagsGradient} does, with an existing target. All its elements are overwritten.
   *
   * @param target the result, with the shape of params
   * @param gradient the gradient of the output of gatherBags
   * @param params the source; its memory is read for the maximum and the minimum only
   * @param indices the ids
   * @param bags the numbers that divide ids into bags, or null if each row of indices is a bag
   * @param weights one number for each id, or null
   * @param options the options of the call
   * @throws GatherIndexException if an id is out of bounds
   * @throws GatherArgumentException if bags are invalid
   */
  public static void gatherBagsGradientInto(
      Tensor target, Tensor gradient, Tensor params, Tensor indices, Tensor bags, Tensor weights, Options options) {
    ResultCall.of(false, gradient, params, indices, bags, weights, options).run(target);
  }

  /**
   * Computes the gradient of {@link #gatherBagsGradient} in sparse form: the numbers of the rows that bags have read, in
   * ascending order, and the gradient of each of them. The other rows are zero.
   *
   * <p>If unique has too few elements, the exception has {@link Status#SIZE}, and the needed number as its limit.
   *
   * @param unique receives the numbers of the rows, as int64
   * @param target receives their gradients; it has as many rows as unique has elements
   * @param gradient the gradient of the output of gatherBags
   * @param params the source; its memory is read for the maximum and the minimum only
   * @param indices the ids
   * @param bags the numbers that divide ids into bags, or null if each row of indices is a bag
   * @param weights one number for each id, or null
   * @param options the options of the call
   * @return the number of rows; further elements of unique and target are unchanged
   * @throws GatherIndexException if an id is out of bounds
   * @throws GatherArgumentException if bags are invalid, or unique is too small
   */
  public static long gatherBagsSparseGradientInto(
      Tensor unique,
      Tensor target,
      Tensor gradient,
      Tensor params,
      Tensor indices,
      Tensor bags,
      Tensor weights,
      Options options) {
    return ResultCall.of(false, gradient, params, indices, bags, weights, options)
        .run(given(unique, "unique"), given(target, "target"));
  }

  /**
   * Computes the gradient of {@link #gatherBags(Tensor, Tensor, Tensor, Tensor, Options)} with respect to weights.
   *
   * @param gradient the gradient of the output
   * @param params the source
   * @param indices the ids
   * @param bags the numbers that divide ids into bags, or null if each row of indices is a bag
   * @param weights one number for each id, or null if each is 1
   * @param options the options of the call
   * @return a new tensor with the shape of indices, and the dtype of weights or else of params
   * @throws GatherIndexException if an id is out of bounds
   * @throws GatherArgumentException if bags are invalid
   * @throws GatherUnsupportedException for the maximum, the minimum and complex numbers
   */
  public static Tensor gatherBagsWeightGradient(
      Tensor gradient, Tensor params, Tensor indices, Tensor bags, Tensor weights, Options options) {
    ResultCall call = ResultCall.of(true, gradient, params, indices, bags, weights, options);
    return Calls.newResult(call, (weights == null ? params : weights).dtype, indices.shape);
  }

  /**
   * Does what {@link #gatherBagsWeightGradient} does, with an existing target.
   *
   * @param target the result
   * @param gradient the gradient of the output of gatherBags
   * @param params the source
   * @param indices the ids
   * @param bags the numbers that divide ids into bags, or null if each row of indices is a bag
   * @param weights one number for each id, or null if each is 1
   * @param options the options of the call
   * @throws GatherIndexException if an id is out of bounds
   * @throws GatherArgumentException if bags are invalid
   */
  public static void gatherBagsWeightGradientInto(
      Tensor target, Tensor gradient, Tensor params, Tensor indices, Tensor bags, Tensor weights, Options options) {
    ResultCall.of(true, gradient, params, indices, bags, weights, options).run(target);
  }

  /**
   * Finds the positions of the maxima or minima of {@link #gatherBags(Tensor, Tensor, Tensor, Tensor, Options)}: for each
   * element of its output, the position in indices of the id whose row has this element.
   *
   * <p>Of equal elements, the first one has the position, and the first NaN if there is one. A bag that has read no id
   * has -1. Positions in several dims are row-major numbers.
   *
   * @param params the source
   * @param indices the ids
   * @param bags the numbers that divide ids into bags, or null if each row of indices is a bag
   * @param options the options of the call, with {@link Pool#MAX} or {@link Pool#MIN}
   * @return a new tensor of int64 with the shape of the output
   * @throws GatherIndexException if an id is out of bounds
   * @throws GatherArgumentException if bags are invalid, or for another pool
   */
  public static Tensor gatherBagsPositions(Tensor params, Tensor indices, Tensor bags, Options options) {
    ResultCall call = ResultCall.ofPositions(params, indices, bags, options);
    return Calls.newResult(call, DType.INT64, Calls.bagsShape(params, indices, bags, options));
  }

  /**
   * Does what {@link #gatherBagsPositions} does, with an existing result.
   *
   * @param positions the result, of int64, with the shape of the output
   * @param params the source
   * @param indices the ids
   * @param bags the numbers that divide ids into bags, or null if each row of indices is a bag
   * @param options the options of the call, with {@link Pool#MAX} or {@link Pool#MIN}
   * @throws GatherIndexException if an id is out of bounds
   * @throws GatherArgumentException if bags are invalid, or for another pool
   */
  public static void gatherBagsPositionsInto(
      Tensor positions, Tensor params, Tensor indices, Tensor bags, Options options) {
    ResultCall.ofPositions(params, indices, bags, options).run(given(positions, "positions"));
  }

  /**
   * Runs a gather and creates its output in an arena.
   *
   * @param arena the arena of the output
   * @param operation a gather
   * @param params the source
   * @param indices the indices
   * @param options the options
   * @return a new tensor in memory of the arena
   * @throws GatherIndexException if an index is out of bounds
   * @throws IllegalArgumentException if the operation is not a gather
   */
  public static Tensor make(Arena arena, Operation operation, Params params, Tensor indices, Options options) {
    given(arena, "arena");
    if (!Calls.writesRows(given(operation, "operation"))) {
      throw new IllegalArgumentException(operation + " is not a gather");
    }
    return Calls.gather(arena, operation, params, indices, options);
  }

  /**
   * Returns the shape of the output of a gather, or of the updates of a scatter or a gradient.
   *
   * @param operation the operation
   * @param params params or the target; its memory is not read
   * @param indices the indices; their memory is not read
   * @param options the options
   * @return the extents
   * @throws GatherArgumentException if shapes, dtypes or options are invalid
   */
  public static long[] outputShape(Operation operation, Params params, Tensor indices, Options options) {
    return Calls.infer(given(operation, "operation"), Calls.operands(params, indices), options).shape;
  }

  /**
   * Copies the elements of a tensor to another tensor with the same dtype and shape. Both may be strided.
   *
   * @param source the tensor that is read
   * @param destination the tensor that is written
   * @throws GatherArgumentException if dtypes or shapes differ
   */
  public static void copy(Tensor source, Tensor destination) {
    Calls.copy(source, destination);
  }
}
