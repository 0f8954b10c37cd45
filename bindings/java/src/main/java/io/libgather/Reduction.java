package io.libgather;

/**
 * The way in which a scatter combines an update with the row that it selects.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Reduction {
  /** The row becomes the update. All dtypes. */
  NONE(1),
  /** GTH_REDUCTION_ADD of gather.h. */
  ADD(2),
  /** GTH_REDUCTION_MUL of gather.h. */
  MUL(3),
  /** GTH_REDUCTION_MAX of gather.h. */
  MAX(4),
  /** GTH_REDUCTION_MIN of gather.h. */
  MIN(5),
  /** GTH_REDUCTION_MEAN of gather.h. */
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
