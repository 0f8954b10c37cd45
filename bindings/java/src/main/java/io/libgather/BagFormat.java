package io.libgather;

/**
 * The way in which the operand bags of gather_bags divides indices into bags.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum BagFormat {
  /** B + 1 numbers. Bag b has the ids from bags[b] up to bags[b + 1]. */
  OFFSETS(1),
  /** B numbers. Bag b has the ids from bags[b] up to bags[b + 1], the last one up to N. */
  STARTS(2),
  /** B numbers. Bag b has bags[b] ids. */
  LENGTHS(3),
  /** N numbers, which do not decrease. Id i is in bag bags[i]. bag_count is B. */
  SEGMENTS(4),
  /** Each row of indices along its last dim is a bag. bags is NULL. */
  DENSE(5);

  final int number;

  BagFormat(int number) {
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
