package io.libgather;

/**
 * The row of a bag of gather_bags of which no id is read.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Empty {
  /** Zeros. */
  ZERO(1),
  /** The value that gth_options.fill selects. */
  FILL(2),
  /** GTH_E_OFFSETS. The output is unchanged. */
  ERROR(3);

  final int number;

  Empty(int number) {
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
