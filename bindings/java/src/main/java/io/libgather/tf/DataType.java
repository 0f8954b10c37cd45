package io.libgather.tf;

import io.libgather.DType;

/** The data type of elements, with the names and the numbers of TensorFlow's DataType. */
public enum DataType {
  /** float32. */
  DT_FLOAT(1),
  /** float64. */
  DT_DOUBLE(2),
  /** int32. */
  DT_INT32(3),
  /** uint8. */
  DT_UINT8(4),
  /** Strings of bytes. */
  DT_STRING(7),
  /** int64. */
  DT_INT64(9),
  /** bool. */
  DT_BOOL(10),
  /** bfloat16. */
  DT_BFLOAT16(14),
  /** uint16. */
  DT_UINT16(17),
  /** float16. */
  DT_HALF(19);

  private final int number;

  DataType(int number) {
    this.number = number;
  }

  /**
   * Returns the number of this data type in TensorFlow.
   *
   * @return the number
   */
  public int getNumber() {
    return number;
  }

  /** Returns the data type of a dtype that has a type here. */
  static DataType of(DType dtype) {
    return switch (dtype) {
      case FLOAT32 -> DT_FLOAT;
      case FLOAT64 -> DT_DOUBLE;
      case INT32 -> DT_INT32;
      case UINT8 -> DT_UINT8;
      case INT64 -> DT_INT64;
      case BOOL -> DT_BOOL;
      case STRING -> DT_STRING;
      case BFLOAT16 -> DT_BFLOAT16;
      case UINT16 -> DT_UINT16;
      case FLOAT16 -> DT_HALF;
      default -> throw new IllegalArgumentException("there is no data type for " + dtype);
    };
  }
}
