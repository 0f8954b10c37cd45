package io.libgather;

/**
 * The way in which a scatter combines an update with the row that it selects.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Reduction {
  /** The row becomes the update. All dtypes. */
  NONE(1),
  /** The row becomes the sum. Integers wrap around. For bools it is the logical or. */
  ADD(2),
  /** The row becomes the product. Integers wrap around. For bools it is the logical and. */
  MUL(3),
  /** The row becomes the maximum, or NaN if either is NaN. */
  MAX(4),
  /** The row becomes the minimum, or NaN if either is NaN. */
  MIN(5),
  /** The row becomes the mean of its updates and itself, rounded down for integers. */
  MEAN(6);

  final int number;

  Reduction(int number) {
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
