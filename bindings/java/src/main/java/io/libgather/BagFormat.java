package io.libgather;

/**
 * The way in which the operand bags divides indices into bags.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum BagFormat {
  /**
   * {@literal @}name Bags How the operand bags tells which ids belong to which bag, for B bags with N ids in total. The
   * ids of a bag are successive. {@literal @}{.
   */
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
