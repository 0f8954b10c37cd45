package io.libgather.tf;

import io.libgather.Tensor;

/**
 * The result of an operation, which has been computed.
 *
 * @param <T> the type of the tensor
 */
public final class Output<T extends TType> implements Operand<T> {
  final T tensor;

  Output(T tensor) {
    this.tensor = tensor;
  }

  /** Returns an output of the type of a tensor. The caller guarantees that the type is T. */
  @SuppressWarnings("unchecked")
  static <T extends TType> Output<T> of(Tensor tensor) {
    return new Output<>((T) TensorOf.of(tensor));
  }

  @Override
  public Output<T> asOutput() {
    return this;
  }
}
