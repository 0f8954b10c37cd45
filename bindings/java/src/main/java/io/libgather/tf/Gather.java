package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import io.libgather.Operation;
import io.libgather.Profile;

/**
 * Takes slices of params along an axis, as TensorFlow's GatherV2 on a CPU.
 *
 * @param <T> the type of params
 */
public final class Gather<T extends TType> extends Result<T> {
  /** The name of this operation. */
  public static final String OP_NAME = "GatherV2";

  /** Options of this operation. */
  public static final class Options {
    private long batchDims;

    private Options() {}

    /**
     * Sets the number of leading dims that params and indices share.
     *
     * @param batchDims the number, which counts from the rank of indices if it is negative
     * @return these options
     */
    public Options batchDims(Long batchDims) {
      this.batchDims = requireNonNull(batchDims, "batchDims is null");
      return this;
    }
  }

  /**
   * Sets the number of leading dims that params and indices share.
   *
   * @param batchDims the number, which counts from the rank of indices if it is negative
   * @return options
   */
  public static Options batchDims(Long batchDims) {
    return new Options().batchDims(batchDims);
  }

  private Gather(TType tensor) {
    super(tensor);
  }

  /**
   * Takes slices of params.
   *
   * @param <T> the type of params
   * @param scope the scope
   * @param params the tensor from which slices are taken
   * @param indices indices of int32 or int64
   * @param axis the axis, a scalar of int32 or int64
   * @param options the options
   * @return the operation with its result
   * @throws TFInvalidArgumentException if an index or an operand is invalid
   */
  public static <T extends TType> Gather<T> create(
      Scope scope,
      Operand<T> params,
      Operand<? extends TNumber> indices,
      Operand<? extends TNumber> axis,
      Options... options) {
    long dim = scalar(requireNonNull(axis, "axis is null").asTensor());
    var settings = io.libgather.Options.builder().profile(Profile.TENSORFLOW).axis(dim);
    for (Options each : requireNonNull(options, "options is null")) {
      settings.batchDims(requireNonNull(each, "options is null").batchDims);
    }
    return new Gather<>(gathered(Operation.GATHER, params, indices, settings.build()));
  }

  private static long scalar(TNumber value) {
    return switch (value) {
      case TInt32 number when number.shape().numDimensions() == 0 -> number.getInt();
      case TInt64 number when number.shape().numDimensions() == 0 -> number.getLong();
      default -> throw new TFInvalidArgumentException("axis must be a scalar of int32 or int64", null);
    };
  }
}
