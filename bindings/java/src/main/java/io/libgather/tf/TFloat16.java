package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import io.libgather.DType;
import io.libgather.Tensor;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;

/** A tensor of float16. Its elements are read and written as floats. */
public final class TFloat16 extends TensorOf implements TNumber {
  TFloat16(Tensor tensor) {
    super(tensor);
  }

  /**
   * Creates a tensor.
   *
   * @param value an element
   * @return a tensor of rank 0
   */
  public static TFloat16 scalarOf(float value) {
    return new TFloat16(tensor(DType.FLOAT16, Elements.of(value)));
  }

  /**
   * Creates a tensor.
   *
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static TFloat16 vectorOf(float... values) {
    return new TFloat16(tensor(DType.FLOAT16, Elements.of(values)));
  }

  /**
   * Creates a tensor.
   *
   * @param values the elements
   * @return a tensor of the shape of the elements
   */
  public static TFloat16 tensorOf(NdArray<Float> values) {
    return new TFloat16(tensor(DType.FLOAT16, (Elements<Float>) requireNonNull(values, "values is null")));
  }

  /**
   * Creates a tensor of zeros.
   *
   * @param shape the extents
   * @return a tensor
   */
  public static TFloat16 tensorOf(Shape shape) {
    return new TFloat16(zeros(DType.FLOAT16, requireNonNull(shape, "shape is null")));
  }

  /**
   * Creates a tensor.
   *
   * @param shape the extents
   * @param initializer writes the elements, which are zero before
   * @return a tensor
   */
  public static TFloat16 tensorOf(Shape shape, Consumer<TFloat16> initializer) {
    TFloat16 created = tensorOf(shape);
    requireNonNull(initializer, "initializer is null").accept(created);
    return created;
  }

  /**
   * Returns an element.
   *
   * @param coordinates an index for each dim
   * @return the element
   * @throws IndexOutOfBoundsException if an index is out of bounds
   */
  public float getFloat(long... coordinates) {
    return Float.float16ToFloat(tensor.segment().get(ValueLayout.JAVA_SHORT_UNALIGNED, offset(coordinates)));
  }

  /**
   * Writes an element.
   *
   * @param value the element, which is rounded
   * @param coordinates an index for each dim
   * @return this tensor
   * @throws IndexOutOfBoundsException if an index is out of bounds
   */
  public TFloat16 setFloat(float value, long... coordinates) {
    put(tensor, offset(coordinates), value);
    return this;
  }

  /** Returns the bits of the nearest float16. All NaNs become one. */
  static short bits(float number) {
    return Float.floatToFloat16(Float.isNaN(number) ? Float.NaN : number);
  }
}
