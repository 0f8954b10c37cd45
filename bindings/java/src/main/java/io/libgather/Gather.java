package io.libgather;

import java.lang.foreign.Arena;

/**
 * Gathers, scatters and gradients.
 *
 * <p>All methods have these rules. Operands are only read, except for the output of a method with {@code Into} in its
 * name. A new result has native memory that the garbage collector frees, or memory of the arena in {@link #make}.
 * Indices have any of the eight integer dtypes. Threads may call all methods at the same time.
 *
 * <p>Methods throw these exceptions:
 *
 * <ul>
 *   <li>{@link GatherIndexException} if an index is out of bounds
 *   <li>{@link GatherArgumentException} for invalid shapes, dtypes, options or memory
 *   <li>{@link GatherUnsupportedException} for operands that the library does not support
 *   <li>{@link GatherStateException} if another thread changes indices during the call
 * </ul>
 *
 * <p>If a method throws, its output is unchanged. There are two cases in which rows may have been written: a {@link
 * GatherStateException}, and a {@link GatherIndexException} with {@link Bounds#ERROR_PARTIAL}.
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
  public static Tensor gather(Tensor params, Tensor indices) {
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
  public static Tensor gather(Tensor params, Tensor indices, Options options) {
    return make(Arena.ofAuto(), Operation.GATHER, params, indices, options);
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
  public static void gatherInto(Tensor out, Tensor params, Tensor indices, Options options) {
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
  public static Tensor gatherNd(Tensor params, Tensor indices) {
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
  public static Tensor gatherNd(Tensor params, Tensor indices, Options options) {
    return make(Arena.ofAuto(), Operation.GATHER_ND, params, indices, options);
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
  public static void gatherNdInto(Tensor out, Tensor params, Tensor indices, Options options) {
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
  public static Tensor gatherElements(Tensor params, Tensor indices) {
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
  public static Tensor gatherElements(Tensor params, Tensor indices, Options options) {
    return make(Arena.ofAuto(), Operation.GATHER_ELEMENTS, params, indices, options);
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
  public static void gatherElementsInto(Tensor out, Tensor params, Tensor indices, Options options) {
    Calls.run(Operation.GATHER_ELEMENTS, params, indices, out, options);
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
   * Does what {@link #gatherGradient} does, with an existing output. All its elements are overwritten.
   *
   * @param out the output, with the shape of params
   * @param gradient the gradient of the gather's output
   * @param indices the indices of the gather
   * @param options the options of the gather
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void gatherGradientInto(Tensor out, Tensor gradient, Tensor indices, Options options) {
    Calls.run(Operation.GATHER_GRADIENT, out, indices, gradient, options);
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
   * Does what {@link #gatherNdGradient} does, with an existing output. All its elements are overwritten.
   *
   * @param out the output, with the shape of params
   * @param gradient the gradient of the gather's output
   * @param indices the indices of the gather
   * @param options the options of the gather
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void gatherNdGradientInto(Tensor out, Tensor gradient, Tensor indices, Options options) {
    Calls.run(Operation.GATHER_ND_GRADIENT, out, indices, gradient, options);
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
   * The same as {@link #gatherElementsGradient} with an existing output. All its elements are overwritten.
   *
   * @param out the output, with the shape of params
   * @param gradient the gradient of the gather's output
   * @param indices the indices of the gather
   * @param options the options of the gather
   * @throws GatherIndexException if an index is out of bounds
   */
  public static void gatherElementsGradientInto(Tensor out, Tensor gradient, Tensor indices, Options options) {
    Calls.run(Operation.GATHER_ELEMENTS_GRADIENT, out, indices, gradient, options);
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
  public static Tensor make(Arena arena, Operation operation, Tensor params, Tensor indices, Options options) {
    if (!Calls.writesRows(operation)) {
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
  public static long[] outputShape(Operation operation, Tensor params, Tensor indices, Options options) {
    return Calls.infer(operation, params, indices, options);
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
