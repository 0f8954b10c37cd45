package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;

/** The extents of a tensor. Immutable. */
public final class Shape {
  private final long[] extents;

  private Shape(long[] extents) {
    this.extents = extents;
  }

  /**
   * Returns a shape.
   *
   * @param extents the extents
   * @return the shape
   */
  public static Shape of(long... extents) {
    return new Shape(requireNonNull(extents, "extents is null").clone());
  }

  /**
   * Returns the number of dims.
   *
   * @return the rank
   */
  public int numDimensions() {
    return extents.length;
  }

  /**
   * Returns an extent.
   *
   * @param dim the number of the dim
   * @return the extent
   */
  public long get(int dim) {
    return extents[dim];
  }

  /**
   * Returns the number of elements.
   *
   * @return the product of the extents
   */
  public long size() {
    return Arrays.stream(extents).reduce(1, Math::multiplyExact);
  }

  /**
   * Returns the extents.
   *
   * @return a new array
   */
  public long[] asArray() {
    return extents.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Shape shape && Arrays.equals(extents, shape.extents);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(extents);
  }

  @Override
  public String toString() {
    return Arrays.toString(extents);
  }
}
