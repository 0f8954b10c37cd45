package io.libgather.tf;

import io.libgather.Tensor;
import java.lang.foreign.ValueLayout;

/** A tensor of bool. */
public final class TBool extends TensorOf {
  TBool(Tensor tensor) {
    super(tensor);
  }

  /**
   * Returns an element.
   *
   * @param coordinates an index for each dim
   * @return the element
   * @throws IndexOutOfBoundsException if an index is out of bounds
   */
  public boolean getBoolean(long... coordinates) {
    return tensor.segment().get(ValueLayout.JAVA_BYTE, offset(coordinates)) != 0;
  }
}
