package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;

/** The elements of nested arrays, in row-major order. */
final class Elements<E> implements NdArray<E> {
  final long[] extents;
  final List<E> values;

  Elements(long[] extents, List<E> values) {
    this.extents = extents;
    this.values = values;
  }

  /** Copies the elements of nested arrays, or a single element. Extents inside an array without elements are 0. */
  static <E> Elements<E> of(Object nested) {
    int rank = 0;
    Class<?> given = requireNonNull(nested, "values is null").getClass();
    for (Class<?> type = given; type.isArray(); type = type.getComponentType()) {
      rank++;
    }
    long[] extents = new long[rank];
    Object part = nested;
    for (int dim = 0; dim < rank && part != null; dim++) {
      extents[dim] = Array.getLength(part);
      part = extents[dim] == 0 ? null : Array.get(part, 0);
    }
    Elements<E> found = new Elements<>(extents, new ArrayList<>());
    found.add(nested, 0);
    return found;
  }

  @SuppressWarnings("unchecked")
  private void add(Object part, int dim) {
    if (dim == extents.length) {
      values.add((E) part);
      return;
    }
    if (Array.getLength(requireNonNull(part, "values is null")) != extents[dim]) {
      throw new IllegalArgumentException("rows differ in length");
    }
    for (int i = 0; i < extents[dim]; i++) {
      add(Array.get(part, i), dim + 1);
    }
  }

  @Override
  public Shape shape() {
    return Shape.of(extents);
  }

  @Override
  public E getObject(long... coordinates) {
    return values.get((int) TensorOf.element(extents, coordinates));
  }
}
