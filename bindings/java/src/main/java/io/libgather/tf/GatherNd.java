package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import io.libgather.Bounds;
import io.libgather.Operation;

/**
 * Takes slices of params by tuples of indices, as TensorFlow's GatherNd on a CPU.
 *
 * @param <T> the type of params
 */
public final class GatherNd<T extends TType> extends Result<T> {
  /** The name of this operation. */
  public static final String OP_NAME = "GatherNd";

  /** Options of this operation. */
  public static final class Options extends Policy {
    private Options() {}

    /**
     * Sets the meaning of indices out of bounds.
     *
     * @param badIndicesPolicy "", "DEFAULT" and "ERROR": an error; "IGNORE": the slice is zero
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
   * @param badIndicesPolicy "", "DEFAULT" and "ERROR": an error; "IGNORE": the slice is zero
   * @return options
   */
  public static Options badIndicesPolicy(String badIndicesPolicy) {
    return new Options().badIndicesPolicy(badIndicesPolicy);
  }

  private GatherNd(TType tensor) {
    super(tensor);
  }

  /**
   * Takes slices of params.
   *
   * @param <T> the type of params
   * @param scope the scope
   * @param params the tensor from which slices are taken
   * @param indices tuples of indices of int32 or int64, in the last dim
   * @param options the options
   * @return the operation with its result
   * @throws TFInvalidArgumentException if an index or an operand is invalid
   */
  public static <T extends TType> GatherNd<T> create(
      Scope scope, Operand<T> params, Operand<? extends TNumber> indices, Options... options) {
    var settings = Policy.of(Bounds.FILL, options).build();
    return new GatherNd<>(gathered(Operation.GATHER_ND, params, indices, settings));
  }
}
