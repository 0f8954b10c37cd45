package io.libgather;

/**
 * The system has failed: memory could not be allocated, a file could not be read, or the library has a defect.
 *
 * <p>The {@link #details} of {@link Status#IO} are those of a segment of a {@link Table}. The component is the number of
 * the segment, and the position that of the first index that selects the row, or -1. The value is the byte in the file,
 * and the limit is the number of bytes that were needed from there on. The native error is {@code errno}, or 0 for a file
 * that is too short.
 */
public final class GatherSystemException extends RuntimeException implements GatherFailure {
  private static final long serialVersionUID = 1;

  /** The fields of the error. */
  private final ErrorDetails details;

  GatherSystemException(String message, ErrorDetails details) {
    super(message);
    this.details = details;
  }

  @Override
  public ErrorDetails details() {
    return details;
  }
}
