package io.libgather.tf;

import io.libgather.Tensor;
import java.lang.foreign.ValueLayout;

/** A tensor of int64. */
public final class TInt64 extends TensorOf implements TNumber {
  TInt64(Tensor tensor) {
    super(tensor);
  }

  /**
   * Returns an element.
   *
   * @param coordinates an index for each dim
   * @return the element
   * @throws IndexOutOfBoundsException if an index is out of bounds
   */
  public long getLong(long... coordinates) {
    return tensor.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, offset(coordinates));
  }
}
