package io.libgather.tf;

import io.libgather.Tensor;
import java.lang.foreign.ValueLayout;

/** A tensor of uint8. */
public final class TUint8 extends TensorOf implements TNumber {
  TUint8(Tensor tensor) {
    super(tensor);
  }

  /**
   * Returns an element.
   *
   * @param coordinates an index for each dim
   * @return the element
   * @throws IndexOutOfBoundsException if an index is out of bounds
   */
  public byte getByte(long... coordinates) {
    return tensor.segment().get(ValueLayout.JAVA_BYTE, offset(coordinates));
  }
}
