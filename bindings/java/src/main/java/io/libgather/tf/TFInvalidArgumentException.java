package io.libgather.tf;

/** An invalid operand, attribute or index. Its cause has the fields of the error. */
public final class TFInvalidArgumentException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  /**
   * Creates an exception.
   *
   * @param message the message
   * @param cause the failure of the library
   */
  public TFInvalidArgumentException(String message, Throwable cause) {
    super(message, cause);
  }
}
