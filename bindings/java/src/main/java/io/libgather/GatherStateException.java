package io.libgather;

/** A call at the wrong time: another thread has changed indices during the call, or a handle has been released. */
public final class GatherStateException extends IllegalStateException implements GatherFailure {
  private static final long serialVersionUID = 1;

  /** The fields of the error. */
  private final ErrorDetails details;

  GatherStateException(String message, ErrorDetails details) {
    super(message);
    this.details = details;
  }

  @Override
  public ErrorDetails details() {
    return details;
  }
}
