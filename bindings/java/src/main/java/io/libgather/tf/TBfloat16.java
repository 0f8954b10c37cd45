package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import io.libgather.DType;
import io.libgather.Tensor;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;

/** A tensor of bfloat16. Its elements are read and written as floats. */
public final class TBfloat16 extends TensorOf implements TNumber {
  TBfloat16(Tensor tensor) {
    super(tensor);
  }

  /**
   * Creates a tensor.
   *
   * @param value an element
   * @return a tensor of rank 0
   */
  public static TBfloat16 scalarOf(float value) {
    return new TBfloat16(tensor(DType.BFLOAT16, Elements.of(value)));
  }

  /**
   * Creates a tensor.
   *
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static TBfloat16 vectorOf(float... values) {
    return new TBfloat16(tensor(DType.BFLOAT16, Elements.of(values)));
  }

  /**
   * Creates a tensor.
   *
   * @param values the elements
   * @return a tensor of the shape of the elements
   */
  public static TBfloat16 tensorOf(NdArray<Float> values) {
    return new TBfloat16(tensor(DType.BFLOAT16, (Elements<Float>) requireNonNull(values, "values is null")));
  }

  /**
   * Creates a tensor of zeros.
   *
   * @param shape the extents
   * @return a tensor
   */
  public static TBfloat16 tensorOf(Shape shape) {
    return new TBfloat16(zeros(DType.BFLOAT16, requireNonNull(shape, "shape is null")));
  }

  /**
   * Creates a tensor.
   *
   * @param shape the extents
   * @param initializer writes the elements, which are zero before
   * @return a tensor
   */
  public static TBfloat16 tensorOf(Shape shape, Consumer<TBfloat16> initializer) {
    TBfloat16 created = tensorOf(shape);
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
    return Float.intBitsToFloat(tensor.segment().get(ValueLayout.JAVA_SHORT_UNALIGNED, offset(coordinates)) << 16);
  }

  /**
   * Writes an element.
   *
   * @param value the element, which is cut to 16 bits
   * @param coordinates an index for each dim
   * @return this tensor
   * @throws IndexOutOfBoundsException if an index is out of bounds
   */
  public TBfloat16 setFloat(float value, long... coordinates) {
    put(tensor, offset(coordinates), value);
    return this;
  }

  /** Returns the upper bits of a float, as TensorFlow's Java API does. All NaNs become one. */
  static short bits(float number) {
    return (short) (Float.floatToIntBits(number) >>> 16);
  }
}
