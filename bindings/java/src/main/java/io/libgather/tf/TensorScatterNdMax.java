package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import io.libgather.Reduction;

/**
 * Takes the maximum of updates and slices of a copy of a tensor.
 *
 * @param <T> the type of the tensor
 */
public final class TensorScatterNdMax<T extends TType> extends ScatterResult<T> {
  /** The name of this operation. */
  public static final String OP_NAME = "TensorScatterMax";

  private TensorScatterNdMax(TType tensor) {
    super(tensor);
  }

  /**
   * Takes the maximum of updates and slices of a copy of a tensor.
   *
   * @param <T> the type of the tensor
   * @param scope the scope
   * @param tensor the tensor that is copied
   * @param indices tuples of indices of int32 or int64, in the last dim
   * @param updates the updates
   * @param options the options
   * @return the operation with its result
   * @throws TFInvalidArgumentException if an index or an operand is invalid
   */
  public static <T extends TType> TensorScatterNdMax<T> create(
      Scope scope,
      Operand<T> tensor,
      Operand<? extends TNumber> indices,
      Operand<T> updates,
      Options... options) {
    T target = requireNonNull(tensor, "tensor is null").asTensor();
    return new TensorScatterNdMax<>(scattered(Reduction.MAX, target, indices, updates, options));
  }
}
