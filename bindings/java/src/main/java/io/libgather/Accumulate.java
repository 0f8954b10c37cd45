package io.libgather;

/**
 * The type in which float16 and bfloat16 are added and multiplied.
 *
 * <p>Generated from gather.h by generate.py: do not edit.
 */
public enum Accumulate {
  /** The dtype: 4,096 ones added to a float16 are 2,048. */
  DTYPE(1),
  /** float32, rounded once after all updates of an element: they are 4,096. */
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
