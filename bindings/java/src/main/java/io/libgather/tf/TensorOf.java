package io.libgather.tf;

import io.libgather.DType;
import io.libgather.Tensor;
import java.util.Objects;

/** The common part of the types of tensors. */
abstract sealed class TensorOf implements TType permits TBool, TFloat32, TFloat64, TInt32, TInt64, TUint8 {
  final Tensor tensor;

  TensorOf(Tensor tensor) {
    this.tensor = tensor;
  }

  /** Returns a tensor with the type of its dtype. */
  static TType of(Tensor tensor) {
    return switch (tensor.dtype()) {
      case FLOAT32 -> new TFloat32(tensor);
      case FLOAT64 -> new TFloat64(tensor);
      case INT32 -> new TInt32(tensor);
      case INT64 -> new TInt64(tensor);
      case UINT8 -> new TUint8(tensor);
      case BOOL -> new TBool(tensor);
      default -> throw new IllegalArgumentException("there is no type for " + tensor.dtype());
    };
  }

  /** Returns the dtype of a type. */
  static DType dtype(TType type) {
    return ((TensorOf) type).tensor.dtype();
  }

  @Override
  public Shape shape() {
    return Shape.of(tensor.shape());
  }

  /** Returns the offset of an element in bytes. */
  long offset(long... coordinates) {
    long[] shape = tensor.shape();
    if (coordinates.length != shape.length) {
      throw new IllegalArgumentException(coordinates.length + " coordinates for " + shape.length + " dims");
    }
    long element = 0;
    for (int i = 0; i < shape.length; i++) {
      element = element * shape[i] + Objects.checkIndex(coordinates[i], shape[i]);
    }
    return element * tensor.dtype().size();
  }
}
