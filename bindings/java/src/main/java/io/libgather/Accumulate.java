package io.libgather;

/**
 * The type in which scatters, gradients and bags add and multiply floating numbers.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Accumulate {
  /** Each result is rounded to the dtype. 4,096 ones in float16 then add up to 2,048. */
  DTYPE(1),
  /** float32, for float16 and bfloat16. Elements are rounded once, after all updates: 4,096. */
  FLOAT32(2),
  /** float64, for float32, whose elements are rounded once. float16 and bfloat16 use float32. Not for bags. */
  FLOAT64(3);

  final int number;

  Accumulate(int number) {
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
