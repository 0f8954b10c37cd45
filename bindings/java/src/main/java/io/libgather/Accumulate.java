package io.libgather;

/**
 * The type in which float16 and bfloat16 are added and multiplied.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Accumulate {
  /** Each result is rounded to the dtype. 4,096 ones in float16 then add up to 2,048. */
  DTYPE(1),
  /** float32. Each element is rounded once, after all its updates. The sum is then 4,096. */
  FLOAT32(2);

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
