package io.libgather.tf;

import io.libgather.Reduction;
import io.libgather.Tensor;

/**
 * Takes the maximum of updates and slices of a copy of a tensor.
 *
 * @param <T> the type of the tensor
 */
public final class TensorScatterNdMax<T extends TType> extends Result<T> {
  /** The name of this operation. */
  public static final String OP_NAME = "TensorScatterMax";

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

  private TensorScatterNdMax(Tensor tensor) {
    super(tensor);
  }

  /**
   * Takes the maximum of updates and slices of a copy of a tensor.
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
  public static <T extends TType> TensorScatterNdMax<T> create(
      Scope scope,
      Operand<T> tensor,
      Operand<? extends TNumber> indices,
      Operand<T> updates,
      Options... options) {
    var settings = Policy.of(options).reduction(Reduction.MAX).build();
    return new TensorScatterNdMax<>(
        call(() -> io.libgather.Gather.scatterNd(tensor(tensor), tensor(indices), tensor(updates), settings)));
  }
}
