package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import io.libgather.DType;

/**
 * A tensor of given elements.
 *
 * @param <T> the type of the tensor
 */
public final class Constant<T extends TType> extends Result<T> {
  private Constant(TType tensor) {
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

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param value an element
   * @return a tensor of rank 0
   */
  public static Constant<TString> scalarOf(Scope scope, String value) {
    return create(scope, TString.scalarOf(value));
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static Constant<TString> vectorOf(Scope scope, String[] values) {
    return create(scope, TString.vectorOf(values));
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static Constant<TString> arrayOf(Scope scope, String... values) {
    return vectorOf(scope, values);
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements, in rows of one length
   * @return a tensor of rank 2
   */
  public static Constant<TString> tensorOf(Scope scope, String[][] values) {
    return tensorOf(scope, StdArrays.ndCopyOf(values));
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements, in rows of one length
   * @return a tensor of rank 3
   */
  public static Constant<TString> tensorOf(Scope scope, String[][][] values) {
    return tensorOf(scope, StdArrays.ndCopyOf(values));
  }

  /**
   * Creates a constant.
   *
   * @param scope the scope
   * @param values the elements
   * @return a tensor of the shape of the elements
   */
  public static Constant<TString> tensorOf(Scope scope, NdArray<String> values) {
    return create(scope, TString.tensorOf(values));
  }

  /**
   * Creates a constant from a tensor.
   *
   * @param <T> the type of the tensor
   * @param scope the scope
   * @param tensor the tensor, whose elements must not change any more
   * @return the tensor as an operand
   */
  public static <T extends TType> Constant<T> create(Scope scope, T tensor) {
    return new Constant<>(requireNonNull(tensor, "tensor is null"));
  }

  private static <T extends TType> Constant<T> of(Object values, DType dtype) {
    return new Constant<>(TensorOf.of(TensorOf.tensor(dtype, Elements.of(values))));
  }
}
