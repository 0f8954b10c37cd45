package io.libgather;

import io.libgather.internal.Gth;
import java.io.Serializable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The fields of an error. The header gather.h defines them for each status.
 *
 * @param status the status
 * @param operand the operand to which the error belongs
 * @param component the component of the tuple, the dim, or the byte offset of an option, or -1
 * @param position the row-major number of the tuple in indices, or -1
 * @param value the value that was given: for an index out of bounds the index
 * @param limit the bound of the value: for an index out of bounds the extent of the dim
 * @param item the number of the request, or -1
 * @param wraps true if negative indices count from the end. The valid range is then [-limit, limit)
 * @param unsigned true if value is the bit pattern of an unsigned number
 * @param nativeError the number of an error of the operating system or of CUDA, or 0
 */
public record ErrorDetails(
    Status status,
    OperandName operand,
    int component,
    long position,
    long value,
    long limit,
    long item,
    boolean wraps,
    boolean unsigned,
    int nativeError)
    implements Serializable {

  private static final Status[] STATUSES = Status.values();
  private static final OperandName[] OPERANDS = OperandName.values();

  /** Returns the fields of an error that this binding has found. */
  static ErrorDetails of(Status status, OperandName operand, long value, long limit) {
    return new ErrorDetails(status, operand, -1, -1, value, limit, -1, false, false, 0);
  }

  /** Returns a value of an enum, or the given one for a number that only a later library has. */
  private static <T> T known(T[] values, int number, T unknown) {
    return number >= 0 && number < values.length ? values[number] : unknown;
  }

  /** Returns the fields of a gth_error. */
  static ErrorDetails read(int status, MemorySegment error) {
    int flags = error.get(ValueLayout.JAVA_INT, Gth.Error.FLAGS);
    return new ErrorDetails(
        known(STATUSES, -status - 1, Status.INTERNAL),
        known(OPERANDS, error.get(ValueLayout.JAVA_INT, Gth.Error.OPERAND), OperandName.NONE),
        error.get(ValueLayout.JAVA_INT, Gth.Error.COMPONENT),
        error.get(ValueLayout.JAVA_LONG, Gth.Error.POSITION),
        error.get(ValueLayout.JAVA_LONG, Gth.Error.VALUE),
        error.get(ValueLayout.JAVA_LONG, Gth.Error.LIMIT),
        error.get(ValueLayout.JAVA_LONG, Gth.Error.ITEM),
        (flags & Gth.ERROR_WRAP) != 0,
        (flags & Gth.ERROR_UNSIGNED) != 0,
        error.get(ValueLayout.JAVA_INT, Gth.Error.NATIVE));
  }

  /** Returns the exception of this error. */
  RuntimeException exception(String message) {
    return switch (status) {
      case INDEX -> new GatherIndexException(message, this);
      case UNSUPPORTED -> new GatherUnsupportedException(message, this);
      case HANDLE, RACE, FORK, CAPTURE -> new GatherStateException(message, this);
      case NOMEM, CUDA, INTERNAL, IO -> new GatherSystemException(message, this);
      default -> new GatherArgumentException(message, this);
    };
  }
}
