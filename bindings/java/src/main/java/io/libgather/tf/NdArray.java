package io.libgather.tf;

/**
 * Elements of any rank.
 *
 * @param <E> the type of the elements
 */
public sealed interface NdArray<E> permits Elements, TString {
  /**
   * Returns the extents.
   *
   * @return the shape
   */
  Shape shape();

  /**
   * Returns an element.
   *
   * @param coordinates an index for each dim
   * @return the element
   * @throws IndexOutOfBoundsException if an index is out of bounds
   */
  E getObject(long... coordinates);
}
