package io.libgather;

/** An index is out of bounds. It is the invalid index with the smallest position. */
public final class GatherIndexException extends IndexOutOfBoundsException implements GatherFailure {
  private static final long serialVersionUID = 1;

  /** The fields of the error. */
  private final ErrorDetails details;

  GatherIndexException(String message, ErrorDetails details) {
    super(message);
    this.details = details;
  }

  @Override
  public ErrorDetails details() {
    return details;
  }

  /**
   * Returns the operand to which the error belongs: indices, or params without elements.
   *
   * @return the operand
   */
  public OperandName operand() {
    return details.operand();
  }

  /**
   * Returns the component of the tuple.
   *
   * @return the component, 0 for gathers along an axis
   */
  public int component() {
    return details.component();
  }

  /**
   * Returns the row-major number of the tuple in indices.
   *
   * @return the position
   */
  public long position() {
    return details.position();
  }

  /**
   * Returns the index.
   *
   * @return the index, as a bit pattern if {@link ErrorDetails#unsigned} is true
   */
  public long value() {
    return details.value();
  }

  /**
   * Returns the extent of the dim. The index must be below it.
   *
   * @return the extent
   */
  public long limit() {
    return details.limit();
  }
}
