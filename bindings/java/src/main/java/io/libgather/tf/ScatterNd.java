package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import io.libgather.DType;
import io.libgather.Reduction;
import io.libgather.Tensor;
import java.lang.foreign.MemorySegment;

/**
 * Adds updates to slices of zeros.
 *
 * @param <U> the type of the updates
 */
public final class ScatterNd<U extends TType> extends ScatterResult<U> {
  /** The name of this operation. */
  public static final String OP_NAME = "ScatterNd";

  private ScatterNd(TType tensor) {
    super(tensor);
  }

  /**
   * Adds updates to slices of zeros.
   *
   * @param <U> the type of the updates
   * @param <T> the type of the indices and the shape
   * @param scope the scope
   * @param indices tuples of indices of int32 or int64, in the last dim
   * @param updates the updates
   * @param shape the extents of the result, a vector
   * @param options the options
   * @return the operation with its result
   * @throws TFInvalidArgumentException if an index or an operand is invalid
   */
  public static <U extends TType, T extends TNumber> ScatterNd<U> create(
      Scope scope, Operand<T> indices, Operand<U> updates, Operand<T> shape, Options... options) {
    long[] extents = vector(requireNonNull(shape, "shape is null").asTensor());
    if (requireNonNull(updates, "updates is null").asTensor() instanceof TString) {
      throw new TFInvalidArgumentException("updates: strings are not added", null);
    }
    DType dtype = tensor(updates).dtype();
    MemorySegment zero = MemorySegment.ofArray(new byte[dtype.size()]);
    Tensor zeros = Tensor.of(zero, dtype, extents).withStrides(0, new long[extents.length]);
    return new ScatterNd<>(scattered(Reduction.ADD, TensorOf.of(zeros), indices, updates, options));
  }

  private static long[] vector(TNumber value) {
    if (value.shape().numDimensions() != 1) {
      throw new TFInvalidArgumentException("shape must be a vector", null);
    }
    long[] extents = new long[Math.toIntExact(value.shape().size())];
    for (int i = 0; i < extents.length; i++) {
      extents[i] =
          switch (value) {
            case TInt32 numbers -> numbers.getInt(i);
            case TInt64 numbers -> numbers.getLong(i);
            default -> throw new TFInvalidArgumentException("shape must be of int32 or int64", null);
          };
    }
    return extents;
  }
}
