package io.libgather.tf;

import io.libgather.DType;
import io.libgather.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/** The common part of the types of tensors. */
abstract sealed class TensorOf implements TType
    permits TBfloat16, TBool, TFloat16, TFloat32, TFloat64, TInt32, TInt64, TUint16, TUint8 {
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
      case FLOAT16 -> new TFloat16(tensor);
      case BFLOAT16 -> new TBfloat16(tensor);
      case UINT16 -> new TUint16(tensor);
      default -> throw new IllegalArgumentException("there is no type for " + tensor.dtype());
    };
  }

  /** Returns the dtype of a type. */
  static DType dtype(TType type) {
    return type instanceof TString ? DType.STRING : ((TensorOf) type).tensor.dtype();
  }

  @Override
  public Shape shape() {
    return Shape.of(tensor.shape());
  }

  /** Returns a tensor of zeros in an array. */
  static Tensor zeros(DType dtype, Shape shape) {
    byte[] memory = new byte[Math.toIntExact(Math.multiplyExact(shape.size(), dtype.size()))];
    return Tensor.of(MemorySegment.ofArray(memory), dtype, shape.asArray());
  }

  /** Returns a tensor with a copy of elements. */
  static Tensor tensor(DType dtype, Elements<?> elements) {
    Tensor tensor = zeros(dtype, elements.shape());
    for (int i = 0; i < elements.values.size(); i++) {
      put(tensor, (long) i * dtype.size(), elements.values.get(i));
    }
    return tensor;
  }

  /** Writes an element at an offset in bytes. */
  static void put(Tensor tensor, long offset, Object value) {
    MemorySegment memory = tensor.segment();
    switch (value) {
      case Float number when tensor.dtype() == DType.FLOAT16 ->
          memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, offset, TFloat16.bits(number));
      case Float number when tensor.dtype() == DType.BFLOAT16 ->
          memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, offset, TBfloat16.bits(number));
      case Float number -> memory.set(ValueLayout.JAVA_FLOAT_UNALIGNED, offset, number);
      case Double number -> memory.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, offset, number);
      case Integer number -> memory.set(ValueLayout.JAVA_INT_UNALIGNED, offset, number);
      case Long number -> memory.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, number);
      case Short number -> memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, offset, number);
      case Byte number -> memory.set(ValueLayout.JAVA_BYTE, offset, number);
      default -> memory.set(ValueLayout.JAVA_BYTE, offset, (byte) ((Boolean) value ? 1 : 0));
    }
  }

  /** Returns the offset of an element in bytes. */
  long offset(long... coordinates) {
    return element(tensor.shape(), coordinates) * tensor.dtype().size();
  }

  /** Returns the row-major number of an element. */
  static long element(long[] shape, long... coordinates) {
    if (coordinates.length != shape.length) {
      throw new IllegalArgumentException(coordinates.length + " coordinates for " + shape.length + " dims");
    }
    long element = 0;
    for (int i = 0; i < shape.length; i++) {
      element = element * shape[i] + Objects.checkIndex(coordinates[i], shape[i]);
    }
    return element;
  }
}
