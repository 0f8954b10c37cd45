package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import io.libgather.DType;
import io.libgather.Tensor;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;

/** A tensor of uint16. An element is the bits of a short. */
public final class TUint16 extends TensorOf implements TNumber {
  TUint16(Tensor tensor) {
    super(tensor);
  }

  /**
   * Creates a tensor.
   *
   * @param value an element
   * @return a tensor of rank 0
   */
  public static TUint16 scalarOf(short value) {
    return new TUint16(tensor(DType.UINT16, Elements.of(value)));
  }

  /**
   * Creates a tensor.
   *
   * @param values the elements
   * @return a tensor of rank 1
   */
  public static TUint16 vectorOf(short... values) {
    return new TUint16(tensor(DType.UINT16, Elements.of(values)));
  }

  /**
   * Creates a tensor.
   *
   * @param values the elements
   * @return a tensor of the shape of the elements
   */
  public static TUint16 tensorOf(NdArray<Short> values) {
    return new TUint16(tensor(DType.UINT16, (Elements<Short>) requireNonNull(values, "values is null")));
  }

  /**
   * Creates a tensor of zeros.
   *
   * @param shape the extents
   * @return a tensor
   */
  public static TUint16 tensorOf(Shape shape) {
    return new TUint16(zeros(DType.UINT16, requireNonNull(shape, "shape is null")));
  }

  /**
   * Creates a tensor.
   *
   * @param shape the extents
   * @param initializer writes the elements, which are zero before
   * @return a tensor
   */
  public static TUint16 tensorOf(Shape shape, Consumer<TUint16> initializer) {
    TUint16 created = tensorOf(shape);
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
  public short getShort(long... coordinates) {
    return tensor.segment().get(ValueLayout.JAVA_SHORT_UNALIGNED, offset(coordinates));
  }

  /**
   * Writes an element.
   *
   * @param value the element
   * @param coordinates an index for each dim
   * @return this tensor
   * @throws IndexOutOfBoundsException if an index is out of bounds
   */
  public TUint16 setShort(short value, long... coordinates) {
    put(tensor, offset(coordinates), value);
    return this;
  }
}
