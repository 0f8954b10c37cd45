package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import io.libgather.Reduction;

/**
 * Writes updates to slices of a copy of a tensor. The last of several updates of an element remains.
 *
 * @param <T> the type of the tensor
 */
public final class TensorScatterNdUpdate<T extends TType> extends ScatterResult<T> {
  /** The name of this operation. */
  public static final String OP_NAME = "TensorScatterUpdate";

  private TensorScatterNdUpdate(TType tensor) {
    super(tensor);
  }

  /**
   * Writes updates to slices of a copy of a tensor. The last of several updates of an element remains.
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
  public static <T extends TType> TensorScatterNdUpdate<T> create(
      Scope scope,
      Operand<T> tensor,
      Operand<? extends TNumber> indices,
      Operand<T> updates,
      Options... options) {
    T target = requireNonNull(tensor, "tensor is null").asTensor();
    return new TensorScatterNdUpdate<>(scattered(Reduction.NONE, target, indices, updates, options));
  }
}
