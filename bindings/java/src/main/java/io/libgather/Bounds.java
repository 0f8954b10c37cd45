package io.libgather;

/**
 * The meaning of an index out of bounds.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Bounds {
  /** The call returns GTH_E_INDEX, and the output is unchanged. */
  ERROR(1),
  /** The row is filled with the value that gth_options.fill selects. Not valid for scatters. */
  FILL(2),
  /** The nearest valid index is used. */
  CLAMP(3),
  /** The index modulo the extent is used, in [0, extent). */
  MODULO(4),
  /** The row of the output is unchanged, and zero in a new output. An update is dropped. */
  SKIP(5),
  /**
   * Like error, but after GTH_E_INDEX the written operand may contain some of the results. A large gather then
   * validates indices while it copies, so it reads them once.
   */
  ERROR_PARTIAL(6);

  final int number;

  Bounds(int number) {
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
