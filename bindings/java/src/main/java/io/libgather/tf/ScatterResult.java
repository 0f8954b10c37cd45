package io.libgather.tf;

import io.libgather.Reduction;
import io.libgather.Tensor;

/**
 * A scatter that has been computed when it was created.
 *
 * @param <T> the type of its output
 */
public abstract sealed class ScatterResult<T extends TType> extends Result<T>
    permits ScatterNd, TensorScatterNdAdd, TensorScatterNdMax, TensorScatterNdMin, TensorScatterNdUpdate {
  ScatterResult(Tensor tensor) {
    super(tensor);
  }

  /** Options of this operation. */
  public static final class Options extends Policy {
    private Options() {}

    /**
     * Sets the meaning of indices out of bounds.
     *
     * @param badIndicesPolicy "", "DEFAULT" and "ERROR": an error; "IGNORE": the update is dropped
     * @return these options
     */
    public Options badIndicesPolicy(String badIndicesPolicy) {
      policy = badIndicesPolicy;
      return this;
    }
  }

  /**
   * Sets the meaning of indices out of bounds.
   *
   * @param badIndicesPolicy "", "DEFAULT" and "ERROR": an error; "IGNORE": the update is dropped
   * @return options
   */
  public static Options badIndicesPolicy(String badIndicesPolicy) {
    return new Options().badIndicesPolicy(badIndicesPolicy);
  }

  /** Returns a copy of a tensor with which updates have been combined. */
  static Tensor scattered(
      Reduction reduction, Tensor tensor, Operand<?> indices, Operand<?> updates, Options... options) {
    var settings = Policy.of(options).reduction(reduction).build();
    return call(() -> io.libgather.Gather.scatterNd(tensor, tensor(indices), tensor(updates), settings));
  }
}
