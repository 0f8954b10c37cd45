package io.libgather.tf;

import io.libgather.DType;
import io.libgather.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Array;

/**
 * A tensor of given elements.
 *
 * @param <T> the type of the tensor
 */
public final class Constant<T extends TType> extends Result<T> {
  private Constant(Tensor tensor) {
    super(tensor);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param value an element
   * @return a tensor of rank 0
   */
  public static Constant<TFloat32> scalarOf(Scope scope, float value) {
    return of(value, DType.FLOAT32);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static Constant<TFloat32> vectorOf(Scope scope, float[] values) {
    return of(values, DType.FLOAT32);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static Constant<TFloat32> arrayOf(Scope scope, float... values) {
    return of(values, DType.FLOAT32);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements, in rows of one length
   * @return a tensor of rank 2
   */
  public static Constant<TFloat32> tensorOf(Scope scope, float[][] values) {
    return of(values, DType.FLOAT32);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements, in rows of one length
   * @return a tensor of rank 3
   */
  public static Constant<TFloat32> tensorOf(Scope scope, float[][][] values) {
    return of(values, DType.FLOAT32);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param value an element
   * @return a tensor of rank 0
   */
  public static Constant<TFloat64> scalarOf(Scope scope, double value) {
    return of(value, DType.FLOAT64);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static Constant<TFloat64> vectorOf(Scope scope, double[] values) {
    return of(values, DType.FLOAT64);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static Constant<TFloat64> arrayOf(Scope scope, double... values) {
    return of(values, DType.FLOAT64);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements, in rows of one length
   * @return a tensor of rank 2
   */
  public static Constant<TFloat64> tensorOf(Scope scope, double[][] values) {
    return of(values, DType.FLOAT64);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements, in rows of one length
   * @return a tensor of rank 3
   */
  public static Constant<TFloat64> tensorOf(Scope scope, double[][][] values) {
    return of(values, DType.FLOAT64);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param value an element
   * @return a tensor of rank 0
   */
  public static Constant<TInt32> scalarOf(Scope scope, int value) {
    return of(value, DType.INT32);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static Constant<TInt32> vectorOf(Scope scope, int[] values) {
    return of(values, DType.INT32);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static Constant<TInt32> arrayOf(Scope scope, int... values) {
    return of(values, DType.INT32);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements, in rows of one length
   * @return a tensor of rank 2
   */
  public static Constant<TInt32> tensorOf(Scope scope, int[][] values) {
    return of(values, DType.INT32);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements, in rows of one length
   * @return a tensor of rank 3
   */
  public static Constant<TInt32> tensorOf(Scope scope, int[][][] values) {
    return of(values, DType.INT32);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param value an element
   * @return a tensor of rank 0
   */
  public static Constant<TInt64> scalarOf(Scope scope, long value) {
    return of(value, DType.INT64);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static Constant<TInt64> vectorOf(Scope scope, long[] values) {
    return of(values, DType.INT64);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static Constant<TInt64> arrayOf(Scope scope, long... values) {
    return of(values, DType.INT64);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements, in rows of one length
   * @return a tensor of rank 2
   */
  public static Constant<TInt64> tensorOf(Scope scope, long[][] values) {
    return of(values, DType.INT64);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements, in rows of one length
   * @return a tensor of rank 3
   */
  public static Constant<TInt64> tensorOf(Scope scope, long[][][] values) {
    return of(values, DType.INT64);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param value an element
   * @return a tensor of rank 0
   */
  public static Constant<TUint8> scalarOf(Scope scope, byte value) {
    return of(value, DType.UINT8);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static Constant<TUint8> vectorOf(Scope scope, byte[] values) {
    return of(values, DType.UINT8);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static Constant<TUint8> arrayOf(Scope scope, byte... values) {
    return of(values, DType.UINT8);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements, in rows of one length
   * @return a tensor of rank 2
   */
  public static Constant<TUint8> tensorOf(Scope scope, byte[][] values) {
    return of(values, DType.UINT8);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements, in rows of one length
   * @return a tensor of rank 3
   */
  public static Constant<TUint8> tensorOf(Scope scope, byte[][][] values) {
    return of(values, DType.UINT8);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param value an element
   * @return a tensor of rank 0
   */
  public static Constant<TBool> scalarOf(Scope scope, boolean value) {
    return of(value, DType.BOOL);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static Constant<TBool> vectorOf(Scope scope, boolean[] values) {
    return of(values, DType.BOOL);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static Constant<TBool> arrayOf(Scope scope, boolean... values) {
    return of(values, DType.BOOL);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements, in rows of one length
   * @return a tensor of rank 2
   */
  public static Constant<TBool> tensorOf(Scope scope, boolean[][] values) {
    return of(values, DType.BOOL);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements, in rows of one length
   * @return a tensor of rank 3
   */
  public static Constant<TBool> tensorOf(Scope scope, boolean[][][] values) {
    return of(values, DType.BOOL);
  }

  private static <T extends TType> Constant<T> of(Object values, DType dtype) {
    long[] extents = extents(values);
    MemorySegment memory = MemorySegment.ofArray(new byte[Math.toIntExact(Shape.of(extents).size() * dtype.size())]);
    fill(memory, 0, values, extents, 0);
    return new Constant<>(Tensor.of(memory, dtype, extents));
  }

  /** Returns the extents of nested arrays. Those inside an array without elements are 0. */
  private static long[] extents(Object values) {
    int rank = 0;
    for (Class<?> type = values.getClass(); type.isArray(); type = type.getComponentType()) {
      rank++;
    }
    long[] extents = new long[rank];
    Object part = values;
    for (int dim = 0; dim < rank && part != null; dim++) {
      extents[dim] = Array.getLength(part);
      part = extents[dim] == 0 ? null : Array.get(part, 0);
    }
    return extents;
  }

  /** Copies an array at an offset, and returns the offset behind it. */
  private static long fill(MemorySegment memory, long offset, Object values, long[] extents, int dim) {
    if (dim < extents.length) {
      if (Array.getLength(values) != extents[dim]) {
        throw new IllegalArgumentException("rows differ in length");
      }
      long end = offset;
      for (int i = 0; i < extents[dim]; i++) {
        end = fill(memory, end, Array.get(values, i), extents, dim + 1);
      }
      return end;
    }
    switch (values) {
      case Float value -> memory.set(ValueLayout.JAVA_FLOAT_UNALIGNED, offset, value);
      case Double value -> memory.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, offset, value);
      case Integer value -> memory.set(ValueLayout.JAVA_INT_UNALIGNED, offset, value);
      case Long value -> memory.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
      case Byte value -> memory.set(ValueLayout.JAVA_BYTE, offset, value);
      default -> memory.set(ValueLayout.JAVA_BYTE, offset, (byte) ((Boolean) values ? 1 : 0));
    }
    return offset + size(values);
  }

  private static long size(Object value) {
    return switch (value) {
      case Float f -> 4;
      case Integer i -> 4;
      case Double d -> 8;
      case Long l -> 8;
      default -> 1;
    };
  }
}
