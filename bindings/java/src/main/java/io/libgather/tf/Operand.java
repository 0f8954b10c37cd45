package io.libgather.tf;

/**
 * A value that operations take.
 *
 * @param <T> the type of the tensor
 */
public interface Operand<T extends TType> {
  /**
   * Returns the value as an output.
   *
   * @return the output
   */
  Output<T> asOutput();

  /**
   * Returns the tensor.
   *
   * @return the tensor
   */
  default T asTensor() {
    return asOutput().tensor;
  }

  /**
   * Returns the extents of the tensor.
   *
   * @return the shape
   */
  default Shape shape() {
    return asTensor().shape();
  }

  /**
   * Returns the class of the tensor.
   *
   * @return the class
   */
  default Class<T> type() {
    return asOutput().type();
  }

  /**
   * Returns the number of dims of the tensor.
   *
   * @return the rank
   */
  default int rank() {
    return shape().numDimensions();
  }
}
