package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import io.libgather.Bounds;
import io.libgather.Operation;
import io.libgather.Reduction;
import io.libgather.Tensor;

/**
 * A scatter that has been computed when it was created.
 *
 * @param <T> the type of its output
 */
public abstract sealed class ScatterResult<T extends TType> extends Result<T>
    permits ScatterNd, TensorScatterNdAdd, TensorScatterNdMax, TensorScatterNdMin, TensorScatterNdUpdate {
  ScatterResult(TType tensor) {
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
      policy = requireNonNull(badIndicesPolicy, "badIndicesPolicy is null");
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
  static TType scattered(
      Reduction reduction, TType target, Operand<?> indices, Operand<?> updates, Options... options) {
    requireNonNull(indices, "indices is null");
    requireNonNull(updates, "updates is null");
    var settings = Policy.of(Bounds.SKIP, options).reduction(reduction).build();
    return call(
        () ->
            target instanceof TString words && updates.asTensor() instanceof TString values
                ? new TString(words.strings.make(Operation.SCATTER_ND, tensor(indices), values.strings, settings))
                : TensorOf.of(
                    io.libgather.Gather.scatterNd(
                        ((TensorOf) target).tensor, tensor(indices), tensor(updates), settings)));
  }
}
