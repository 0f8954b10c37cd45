package io.libgather.tf;

import io.libgather.Tensor;
import java.lang.foreign.ValueLayout;

/** A tensor of float64. */
public final class TFloat64 extends TensorOf implements TNumber {
  TFloat64(Tensor tensor) {
    super(tensor);
  }

  /**
   * Returns an element.
   *
   * @param coordinates an index for each dim
   * @return the element
   * @throws IndexOutOfBoundsException if an index is out of bounds
   */
  public double getDouble(long... coordinates) {
    return tensor.segment().get(ValueLayout.JAVA_DOUBLE_UNALIGNED, offset(coordinates));
  }
}
