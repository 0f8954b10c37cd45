package io.libgather;

/**
 * The value that {@link Bounds#FILL} and padding of gathers write.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Fill {
  /** Zero bytes, or empty strings. */
  ZERO(1),
  /** gth_options.fill_value. */
  VALUE(2),
  /** As in JAX: NaN (+ 0i), the smallest signed, the largest unsigned, true. */
  BY_DTYPE(3);

  final int number;

  Fill(int number) {
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
