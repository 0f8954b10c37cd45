package io.libgather;

/**
 * The order in which a scatter, a gradient or a gradient of bags on a CUDA device combines the updates of an element.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Order {
  /**
   * The order of their positions. The bytes of the result are equal in every call, on every device and on the CPU,
   * except for the bits of NaN.
   */
  UPDATES(1),
  /**
   * A CUDA device may add float16, bfloat16, float32, float64 and complex numbers with atomic additions. Then the last
   * bits of a sum or a mean may differ from call to call, and subnormal numbers of float32 may count as zero. Other
   * reductions and dtypes are not changed.
   */
  ANY(2);

  final int number;

  Order(int number) {
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
