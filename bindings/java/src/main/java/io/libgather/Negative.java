package io.libgather;

/**
 * The meaning of a negative index.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Negative {
  /** It is out of bounds. */
  REJECT(1),
  /** It counts from the end: -1 is the last, -size the first. A smaller one is out of bounds. */
  WRAP(2);

  final int number;

  Negative(int number) {
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
