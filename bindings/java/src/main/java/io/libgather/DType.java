package io.libgather;

/**
 * The type of the elements of a tensor.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum DType {
  /** GTH_DTYPE_INT8 of gather.h. */
  INT8(8, 1),
  /** GTH_DTYPE_INT16 of gather.h. */
  INT16(16, 2),
  /** GTH_DTYPE_INT32 of gather.h. */
  INT32(32, 4),
  /** GTH_DTYPE_INT64 of gather.h. */
  INT64(64, 8),
  /** GTH_DTYPE_UINT8 of gather.h. */
  UINT8(264, 1),
  /** GTH_DTYPE_UINT16 of gather.h. */
  UINT16(272, 2),
  /** GTH_DTYPE_UINT32 of gather.h. */
  UINT32(288, 4),
  /** GTH_DTYPE_UINT64 of gather.h. */
  UINT64(320, 8),
  /** GTH_DTYPE_FLOAT16 of gather.h. */
  FLOAT16(528, 2),
  /** GTH_DTYPE_FLOAT32 of gather.h. */
  FLOAT32(544, 4),
  /** GTH_DTYPE_FLOAT64 of gather.h. */
  FLOAT64(576, 8),
  /** GTH_DTYPE_BFLOAT16 of gather.h. */
  BFLOAT16(1040, 2),
  /** GTH_DTYPE_COMPLEX64 of gather.h. */
  COMPLEX64(1344, 8),
  /** GTH_DTYPE_COMPLEX128 of gather.h. */
  COMPLEX128(1408, 16),
  /** GTH_DTYPE_BOOL of gather.h. */
  BOOL(1544, 1),
  /** GTH_DTYPE_FLOAT8_E3M4 of gather.h. */
  FLOAT8_E3M4(1800, 1),
  /** GTH_DTYPE_FLOAT8_E4M3 of gather.h. */
  FLOAT8_E4M3(2056, 1),
  /** GTH_DTYPE_FLOAT8_E4M3B11FNUZ of gather.h. */
  FLOAT8_E4M3B11FNUZ(2312, 1),
  /** GTH_DTYPE_FLOAT8_E4M3FN of gather.h. */
  FLOAT8_E4M3FN(2568, 1),
  /** GTH_DTYPE_FLOAT8_E4M3FNUZ of gather.h. */
  FLOAT8_E4M3FNUZ(2824, 1),
  /** GTH_DTYPE_FLOAT8_E5M2 of gather.h. */
  FLOAT8_E5M2(3080, 1),
  /** GTH_DTYPE_FLOAT8_E5M2FNUZ of gather.h. */
  FLOAT8_E5M2FNUZ(3336, 1),
  /** GTH_DTYPE_FLOAT8_E8M0FNU of gather.h. */
  FLOAT8_E8M0FNU(3592, 1),
  /** GTH_DTYPE_STRING of gather.h. */
  STRING(65536, 0);

  final int number;
  private final int size;

  DType(int number, int size) {
    this.number = number;
    this.size = size;
  }

  /**
   * Returns the number of this constant in gather.h.
   *
   * @return the number
   */
  public int number() {
    return number;
  }

  /**
   * Returns the size of an element.
   *
   * @return the size in bytes, 0 for strings
   */
  public int size() {
    return size;
  }
}
