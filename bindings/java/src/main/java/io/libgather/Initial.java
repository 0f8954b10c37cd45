package io.libgather;

/**
 * The value that the reduction of a row by a scatter begins with: the row of target, or the first update.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Initial {
  /** The row of target. */
  TARGET(1),
  /** The first update, as with include_self=False of torch. */
  UPDATE(2);

  final int number;

  Initial(int number) {
    this.number = number;
  }

  /**
   * Returns the number of this constant in gather.h.
   *
   * @return the number
   */
  public int number() {
    return number;
  }
}
