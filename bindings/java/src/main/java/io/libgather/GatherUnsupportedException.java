package io.libgather;

/** The request is valid, but the library does not support it for these operands. */
public final class GatherUnsupportedException extends UnsupportedOperationException implements GatherFailure {
  private static final long serialVersionUID = 1;

  /** The fields of the error. */
  private final ErrorDetails details;

  GatherUnsupportedException(String message, ErrorDetails details) {
    super(message);
    this.details = details;
  }

  @Override
  public ErrorDetails details() {
    return details;
  }
}
