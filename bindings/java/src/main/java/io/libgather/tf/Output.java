package io.libgather.tf;

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
  static <T extends TType> Output<T> of(TType tensor) {
    return new Output<>((T) tensor);
  }

  /**
   * Returns the number of this output among those of its operation.
   *
   * @return 0, because each operation has one output
   */
  public int index() {
    return 0;
  }

  /**
   * Returns the type of the tensor.
   *
   * @return the class
   */
  @SuppressWarnings("unchecked")
  @Override
  public Class<T> type() {
    return (Class<T>) tensor.getClass();
  }

  /**
   * Returns the data type of the elements.
   *
   * @return the data type
   */
  public DataType dataType() {
    return DataType.of(TensorOf.dtype(tensor));
  }

  @Override
  public Output<T> asOutput() {
    return this;
  }
}
