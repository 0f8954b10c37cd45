package io.libgather.tf;

import io.libgather.Reduction;
import io.libgather.Tensor;

/**
 * Writes updates to slices of a copy of a tensor. The last of several updates of an element remains.
 *
 * @param <T> the type of the tensor
 */
public final class TensorScatterNdUpdate<T extends TType> extends Result<T> {
  /** The name of this operation. */
  public static final String OP_NAME = "TensorScatterUpdate";

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

  private TensorScatterNdUpdate(Tensor tensor) {
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
    var settings = Policy.of(options).reduction(Reduction.NONE).build();
    return new TensorScatterNdUpdate<>(
        call(() -> io.libgather.Gather.scatterNd(tensor(tensor), tensor(indices), tensor(updates), settings)));
  }
}
