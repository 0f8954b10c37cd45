package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import io.libgather.GatherFailure;
import io.libgather.Operation;
import io.libgather.Options;
import io.libgather.Tensor;
import java.lang.foreign.Arena;
import java.util.function.Supplier;

/**
 * An operation that has been computed when it was created.
 *
 * @param <T> the type of its output
 */
abstract sealed class Result<T extends TType> implements Operand<T>
    permits Constant, Gather, GatherNd, ScatterResult {
  private final Output<T> output;

  Result(TType tensor) {
    output = Output.of(tensor);
  }

  /** Returns the tensor of an operand. */
  static Tensor tensor(Operand<?> operand) {
    return ((TensorOf) operand.asOutput().tensor).tensor;
  }

  /** Runs a gather of numbers or strings. */
  static TType gathered(Operation operation, Operand<?> params, Operand<?> indices, Options options) {
    requireNonNull(params, "params is null");
    requireNonNull(indices, "indices is null");
    return call(
        () ->
            params.asTensor() instanceof TString words
                ? new TString(words.strings.make(operation, tensor(indices), options))
                : TensorOf.of(
                    io.libgather.Gather.make(Arena.ofAuto(), operation, tensor(params), tensor(indices), options)));
  }

  /** Runs a call. Its failures become the exceptions of TensorFlow. */
  static TType call(Supplier<TType> call) {
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
