package io.libgather.tf;

import io.libgather.Tensor;
import java.lang.foreign.ValueLayout;

/** A tensor of float32. */
public final class TFloat32 extends TensorOf implements TNumber {
  TFloat32(Tensor tensor) {
    super(tensor);
  }

  /**
   * Returns an element.
   *
   * @param coordinates an index for each dim
   * @return the element
   * @throws IndexOutOfBoundsException if an index is out of bounds
   */
  public float getFloat(long... coordinates) {
    return tensor.segment().get(ValueLayout.JAVA_FLOAT_UNALIGNED, offset(coordinates));
  }
}
