package io.libgather;

/**
 * The rule for the extents of params and indices of {@link Gather#gatherElements} and {@link Gather#scatterElements} in the dims that are not the axis.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Extents {
  /** They are equal. */
  EQUAL(1),
  /** Extents of indices may be smaller. A prefix of params is used (torch, ONNX). */
  PREFIX(2),
  /** An extent of 1 is repeated (NumPy, JAX). */
  BROADCAST(3);

  final int number;

  Extents(int number) {
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
