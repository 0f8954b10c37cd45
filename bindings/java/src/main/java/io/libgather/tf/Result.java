package io.libgather.tf;

import io.libgather.GatherFailure;
import io.libgather.Tensor;
import java.util.function.Supplier;

/**
 * An operation that has been computed when it was created.
 *
 * @param <T> the type of its output
 */
abstract sealed class Result<T extends TType> implements Operand<T>
    permits Constant, Gather, GatherNd, ScatterResult {
  private final Output<T> output;

  Result(Tensor tensor) {
    output = Output.of(tensor);
  }

  /** Returns the tensor of an operand. */
  static Tensor tensor(Operand<?> operand) {
    return ((TensorOf) operand.asOutput().tensor).tensor;
  }

  /** Runs a call. Its failures become the exceptions of TensorFlow. */
  static Tensor call(Supplier<Tensor> call) {
    try {
      return call.get();
    } catch (RuntimeException e) {
      if (e instanceof GatherFailure) {
        throw new TFInvalidArgumentException(e.getMessage(), e);
      }
      throw e;
    }
  }

  /**
   * Returns the result.
   *
   * @return the output
   */
  public Output<T> output() {
    return output;
  }

  @Override
  public Output<T> asOutput() {
    return output;
  }
}
