package io.libgather.tf;

/** Copies of nested arrays. */
public final class StdArrays {
  private StdArrays() {}

  /**
   * Copies an array.
   *
   * @param array the elements
   * @return elements of rank 1
   */
  public static NdArray<Float> ndCopyOf(float[] array) {
    return Elements.of(array);
  }

  /**
   * Copies an array.
   *
   * @param array the elements, in rows of one length
   * @return elements of rank 2
   */
  public static NdArray<Float> ndCopyOf(float[][] array) {
    return Elements.of(array);
  }

  /**
   * Copies an array.
   *
   * @param array the elements, in rows of one length
   * @return elements of rank 3
   */
  public static NdArray<Float> ndCopyOf(float[][][] array) {
    return Elements.of(array);
  }

  /**
   * Copies an array.
   *
   * @param array the elements
   * @return elements of rank 1
   */
  public static NdArray<Short> ndCopyOf(short[] array) {
    return Elements.of(array);
  }

  /**
   * Copies an array.
   *
   * @param array the elements, in rows of one length
   * @return elements of rank 2
   */
  public static NdArray<Short> ndCopyOf(short[][] array) {
    return Elements.of(array);
  }

  /**
   * Copies an array.
   *
   * @param array the elements, in rows of one length
   * @return elements of rank 3
   */
  public static NdArray<Short> ndCopyOf(short[][][] array) {
    return Elements.of(array);
  }

  /**
   * Copies an array.
   *
   * @param <T> the type of the elements
   * @param array the elements
   * @return elements of rank 1
   */
  public static <T> NdArray<T> ndCopyOf(T[] array) {
    return Elements.of(array);
  }

  /**
   * Copies an array.
   *
   * @param <T> the type of the elements
   * @param array the elements, in rows of one length
   * @return elements of rank 2
   */
  public static <T> NdArray<T> ndCopyOf(T[][] array) {
    return Elements.of(array);
  }

  /**
   * Copies an array.
   *
   * @param <T> the type of the elements
   * @param array the elements, in rows of one length
   * @return elements of rank 3
   */
  public static <T> NdArray<T> ndCopyOf(T[][][] array) {
    return Elements.of(array);
  }
}
