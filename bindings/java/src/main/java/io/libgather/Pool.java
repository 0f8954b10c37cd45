package io.libgather;

/**
 * The way in which gather_bags makes one row of the rows of a bag.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Pool {
  /** The sum of w * row. */
  SUM(1),
  /** The sum, divided by the sum of w. Floating and complex numbers only. */
  MEAN(2),
  /** The sum, divided by the root of the sum of w * w. Floating numbers only. */
  SQRTN(3),
  /** The largest number, or NaN if one is NaN. There are no weights and no complex numbers. */
  MAX(4),
  /** The smallest number, or NaN if one is NaN. There are no weights and no complex numbers. */
  MIN(5);

  final int number;

  Pool(int number) {
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
