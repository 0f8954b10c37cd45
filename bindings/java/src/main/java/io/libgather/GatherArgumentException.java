package io.libgather;

/** An operand or an option is invalid: a dtype, a rank, a shape, strides, the size of memory, or a switch. */
public final class GatherArgumentException extends IllegalArgumentException implements GatherFailure {
  private static final long serialVersionUID = 1;

  /** The fields of the error. */
  private final ErrorDetails details;

  GatherArgumentException(String message, ErrorDetails details) {
    super(message);
    this.details = details;
  }

  @Override
  public ErrorDetails details() {
    return details;
  }
}
