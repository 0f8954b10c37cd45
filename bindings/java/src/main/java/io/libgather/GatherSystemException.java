package io.libgather;

/** The system has failed: memory could not be allocated, or the library has a defect. */
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
