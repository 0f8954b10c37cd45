package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;

/** Elements of rank 0 and 1. */
public final class NdArrays {
  private NdArrays() {}

  /**
   * Returns one element.
   *
   * @param <T> the type of the element
   * @param value the element
   * @return elements of rank 0
   */
  public static <T> NdArray<T> scalarOfObject(T value) {
    return new Elements<>(new long[0], List.of(requireNonNull(value, "value is null")));
  }

  /**
   * Returns some elements.
   *
   * @param <T> the type of the elements
   * @param values the elements
   * @return elements of rank 1
   */
  @SafeVarargs
  public static <T> NdArray<T> vectorOfObjects(T... values) {
    List<T> elements = new ArrayList<>();
    for (T value : requireNonNull(values, "values is null")) {
      elements.add(value);
    }
    return new Elements<>(new long[] {values.length}, elements);
  }
}
