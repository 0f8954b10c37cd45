package io.libgather.tf;

/** A tensor with elements of one type. */
public sealed interface TType permits TNumber, TString, TensorOf {
  /**
   * Returns the extents.
   *
   * @return the shape
   */
  Shape shape();
}
