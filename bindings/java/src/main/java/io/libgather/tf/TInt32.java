package io.libgather.tf;

import io.libgather.Tensor;
import java.lang.foreign.ValueLayout;

/** A tensor of int32. */
public final class TInt32 extends TensorOf implements TNumber {
  TInt32(Tensor tensor) {
    super(tensor);
  }

  /**
   * Returns an element.
   *
   * @param coordinates an index for each dim
   * @return the element
   * @throws IndexOutOfBoundsException if an index is out of bounds
   */
  public int getInt(long... coordinates) {
    return tensor.segment().get(ValueLayout.JAVA_INT_UNALIGNED, offset(coordinates));
  }
}
