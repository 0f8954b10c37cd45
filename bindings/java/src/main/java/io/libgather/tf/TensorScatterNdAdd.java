package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import io.libgather.Reduction;

/**
 * Adds updates to slices of a copy of a tensor.
 *
 * @param <T> the type of the tensor
 */
public final class TensorScatterNdAdd<T extends TType> extends ScatterResult<T> {
  /** The name of this operation. */
  public static final String OP_NAME = "TensorScatterAdd";

  private TensorScatterNdAdd(TType tensor) {
    super(tensor);
  }

  /**
   * Adds updates to slices of a copy of a tensor.
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
  public static <T extends TType> TensorScatterNdAdd<T> create(
      Scope scope,
      Operand<T> tensor,
      Operand<? extends TNumber> indices,
      Operand<T> updates,
      Options... options) {
    T target = requireNonNull(tensor, "tensor is null").asTensor();
    return new TensorScatterNdAdd<>(scattered(Reduction.ADD, target, indices, updates, options));
  }
}
