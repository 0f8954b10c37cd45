package io.libgather;

import static io.libgather.Given.given;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * A view of memory as a tensor: a memory segment, a dtype, a shape and strides.
 *
 * <p>A tensor owns nothing. Its memory is that of an array, a buffer or a segment, and stays valid as long as these do.
 * A tensor is immutable, and threads may share it. If the arena of the segment is closed, or belongs to another thread,
 * calls throw the exceptions of {@link MemorySegment}.
 *
 * <pre>{@code
 * Tensor table = Tensor.of(new float[] {0, 1, 10, 11, 20, 21}, 3, 2); // 3 rows of 2
 * Tensor rows = Gather.gather(table, Tensor.of(new long[] {2, 0}));
 * float[] values = rows.toFloatArray(); // 20, 21, 0, 1
 * }</pre>
 */
public final class Tensor extends Params {
  private static final int MAX_RANK = 64;

  final MemorySegment segment;
  final DType dtype;
  final long[] shape;

  /** Strides in bytes, or null if the tensor is dense. */
  final long[] strides;

  final long offset;
  final boolean readOnly;

  private Tensor(MemorySegment segment, DType dtype, long[] shape, long[] strides, long offset, boolean readOnly) {
    this.segment = given(segment, "segment");
    this.dtype = given(dtype, "dtype");
    this.shape = shape;
    this.strides = strides;
    this.offset = offset;
    this.readOnly = readOnly || segment.isReadOnly();
    if (shape.length > MAX_RANK) {
      throw new IllegalArgumentException("a tensor has at most " + MAX_RANK + " dims, not " + shape.length);
    }
    if (strides != null && strides.length != shape.length) {
      throw new IllegalArgumentException(strides.length + " strides for " + shape.length + " dims");
    }
  }

  /**
   * Returns a dense row-major tensor over a segment.
   *
   * @param segment the memory, of any alignment
   * @param dtype the dtype
   * @param shape the extents; no extent means a tensor of rank 0
   * @return a tensor
   */
  public static Tensor of(MemorySegment segment, DType dtype, long... shape) {
    return new Tensor(segment, dtype, given(shape, "shape").clone(), null, 0, false);
  }

  /**
   * Returns a tensor of rank 1 over an array.
   *
   * @param array the elements
   * @return a tensor of dtype float32
   */
  public static Tensor of(float[] array) {
    return of(array, given(array, "array").length);
  }

  /**
   * Returns a dense tensor over an array.
   *
   * @param array the elements
   * @param shape the extents; no extents mean rank 0
   * @return a tensor of dtype float32
   */
  public static Tensor of(float[] array, long... shape) {
    return of(MemorySegment.ofArray(given(array, "array")), DType.FLOAT32, shape);
  }

  /**
   * Returns a tensor of rank 1 over an array.
   *
   * @param array the elements
   * @return a tensor of dtype float64
   */
  public static Tensor of(double[] array) {
    return of(array, given(array, "array").length);
  }

  /**
   * Returns a dense tensor over an array.
   *
   * @param array the elements
   * @param shape the extents; no extents mean rank 0
   * @return a tensor of dtype float64
   */
  public static Tensor of(double[] array, long... shape) {
    return of(MemorySegment.ofArray(given(array, "array")), DType.FLOAT64, shape);
  }

  /**
   * Returns a tensor of rank 1 with a copy of an array of booleans. The Foreign Function API has no view of such an array. So
   * a call does not write to the array.
   *
   * @param array the elements
   * @return a read-only tensor of dtype bool
   */
  public static Tensor of(boolean[] array) {
    return of(array, given(array, "array").length);
  }

  /**
   * Returns a dense tensor with a copy of an array of booleans. The Foreign Function API has no view of such an array. So
   * a call does not write to the array.
   *
   * @param array the elements
   * @param shape the extents; no extents mean rank 0
   * @return a read-only tensor of dtype bool
   */
  public static Tensor of(boolean[] array, long... shape) {
    byte[] bytes = new byte[given(array, "array").length];
    for (int i = 0; i < array.length; i++) {
      bytes[i] = (byte) (array[i] ? 1 : 0);
    }
    return of(MemorySegment.ofArray(bytes).asReadOnly(), DType.BOOL, shape);
  }

  /**
   * Returns a tensor of rank 1 over an array.
   *
   * @param array the elements
   * @return a tensor of dtype int8
   */
  public static Tensor of(byte[] array) {
    return of(array, given(array, "array").length);
  }

  /**
   * Returns a dense tensor over an array.
   *
   * @param array the elements
   * @param shape the extents; no extents mean rank 0
   * @return a tensor of dtype int8
   */
  public static Tensor of(byte[] array, long... shape) {
    return of(MemorySegment.ofArray(given(array, "array")), DType.INT8, shape);
  }

  /**
   * Returns a tensor of rank 1 over an array.
   *
   * @param array the elements
   * @return a tensor of dtype int16
   */
  public static Tensor of(short[] array) {
    return of(array, given(array, "array").length);
  }

  /**
   * Returns a dense tensor over an array.
   *
   * @param array the elements
   * @param shape the extents; no extents mean rank 0
   * @return a tensor of dtype int16
   */
  public static Tensor of(short[] array, long... shape) {
    return of(MemorySegment.ofArray(given(array, "array")), DType.INT16, shape);
  }

  /**
   * Returns a tensor of rank 1 over an array.
   *
   * @param array the elements
   * @return a tensor of dtype int32
   */
  public static Tensor of(int[] array) {
    return of(array, given(array, "array").length);
  }

  /**
   * Returns a dense tensor over an array.
   *
   * @param array the elements
   * @param shape the extents; no extents mean rank 0
   * @return a tensor of dtype int32
   */
  public static Tensor of(int[] array, long... shape) {
    return of(MemorySegment.ofArray(given(array, "array")), DType.INT32, shape);
  }

  /**
   * Returns a tensor of rank 1 over an array.
   *
   * @param array the elements
   * @return a tensor of dtype int64
   */
  public static Tensor of(long[] array) {
    return of(array, given(array, "array").length);
  }

  /**
   * Returns a dense tensor over an array.
   *
   * @param array the elements
   * @param shape the extents; no extents mean rank 0
   * @return a tensor of dtype int64
   */
  public static Tensor of(long[] array, long... shape) {
    return of(MemorySegment.ofArray(given(array, "array")), DType.INT64, shape);
  }

  /**
   * Returns a tensor of rank 1 over the remaining elements of a direct or a heap buffer. Read-only buffers become read-only
   * tensors.
   *
   * @param buffer the elements, in the byte order of the processor; a ByteBuffer may have any order
   * @return a tensor of the dtype that an array of these elements has
   * @throws IllegalArgumentException if the buffer is a CharBuffer, or has the other byte order
   */
  public static Tensor of(Buffer buffer) {
    return of(buffer, given(buffer, "buffer").remaining());
  }

  /**
   * Returns a dense tensor over the remaining elements of a direct or a heap buffer. Read-only buffers become read-only
   * tensors.
   *
   * @param buffer the elements, in the byte order of the processor; a ByteBuffer may have any order
   * @param shape the extents; no extents mean rank 0
   * @return a tensor of the dtype that an array of these elements has
   * @throws IllegalArgumentException if the buffer is a CharBuffer, or has the other byte order
   */
  public static Tensor of(Buffer buffer, long... shape) {
    return switch (given(buffer, "buffer")) {
      case ByteBuffer b -> dense(b, DType.INT8, ByteOrder.nativeOrder(), shape);
      case ShortBuffer b -> dense(b, DType.INT16, b.order(), shape);
      case IntBuffer b -> dense(b, DType.INT32, b.order(), shape);
      case LongBuffer b -> dense(b, DType.INT64, b.order(), shape);
      case FloatBuffer b -> dense(b, DType.FLOAT32, b.order(), shape);
      case DoubleBuffer b -> dense(b, DType.FLOAT64, b.order(), shape);
      default -> throw new IllegalArgumentException("there is no dtype for a CharBuffer");
    };
  }

  private static Tensor dense(Buffer buffer, DType dtype, ByteOrder order, long[] shape) {
    if (order != ByteOrder.nativeOrder()) {
      throw new IllegalArgumentException(
          "the buffer is " + order + ": set ByteOrder.nativeOrder() before it is viewed as " + dtype);
    }
    return of(MemorySegment.ofBuffer(buffer), dtype, shape);
  }

  /**
   * Returns a description without memory, for {@link Plan} and for queries of shapes.
   *
   * @param dtype the dtype
   * @param shape the extents; one may be {@link Plan#OPEN}
   * @return a tensor without memory
   */
  public static Tensor shaped(DType dtype, long... shape) {
    return of(MemorySegment.NULL, dtype, shape);
  }

  /**
   * Returns this tensor with another dtype: bfloat16 or float16 over an array of short, or unsigned integers.
   *
   * @param other the dtype
   * @return a view of the same memory
   */
  public Tensor withDType(DType other) {
    return new Tensor(segment, given(other, "other"), shape, strides, offset, readOnly);
  }

  /**
   * Returns this tensor with strides. An input may have any strides inside its memory. The elements of an output must
   * not overlap.
   *
   * @param first the number of bytes before element 0
   * @param bytes a stride for each dim, in bytes, which may be negative or 0
   * @return a view of the same memory
   */
  public Tensor withStrides(long first, long... bytes) {
    return new Tensor(segment, dtype, shape, given(bytes, "bytes").clone(), first, readOnly);
  }

  /**
   * Returns a view that no call writes to.
   *
   * @return a view of the same memory
   */
  public Tensor asReadOnly() {
    return new Tensor(segment, dtype, shape, strides, offset, true);
  }

  /** Returns the same description of other memory. */
  Tensor over(MemorySegment memory) {
    return new Tensor(memory, dtype, shape, strides, offset, readOnly);
  }

  /**
   * Returns the memory of this tensor.
   *
   * @return the segment
   */
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public DType dtype() {
    return dtype;
  }

  @Override
  public long[] shape() {
    return shape.clone();
  }

  /**
   * Returns true if no call may write to this tensor.
   *
   * @return true for read-only memory and after {@link #asReadOnly}
   */
  public boolean isReadOnly() {
    return readOnly;
  }

  @Override
  Tensor copied(Arena arena) {
    return over(Heap.copied(arena, segment));
  }

  @Override
  MemorySegment handle() {
    return MemorySegment.NULL;
  }

  @Override
  void keep(List<MemorySegment> kept) {
    kept.add(segment);
  }

  @Override
  MemorySegment used() {
    long low = offset;
    long high = offset + dtype.size();
    long dense = dtype.size();
    for (int dim = shape.length - 1; dim >= 0; dim--) {
      long extent = shape[dim];
      if (extent == 0) {
        return segment.asSlice(0, 0);
      }
      long reach = (strides == null ? dense : strides[dim]) * (extent - 1);
      low += Math.min(reach, 0);
      high += Math.max(reach, 0);
      dense *= extent;
    }
    return segment.asSlice(low, high - low);
  }

  boolean isDense() {
    return strides == null && offset == 0;
  }

  /** Returns the size of an element if it divides the offset and all strides, and 1 otherwise. */
  int grain() {
    int size = Math.max(1, dtype.size());
    boolean divides = offset % size == 0 && (strides == null || Arrays.stream(strides).allMatch(each -> each % size == 0));
    return divides ? size : 1;
  }

  boolean isOnHeap() {
    return !segment.isNative();
  }

  /**
   * Returns the number of elements.
   *
   * @return the product of the extents
   */
  public long size() {
    long size = 1;
    for (long extent : shape) {
      size = Math.multiplyExact(size, extent);
    }
    return size;
  }

  /**
   * Copies the elements to a new array. The same holds for the other methods of this kind.
   *
   * @return the elements in row-major order
   * @throws IllegalStateException if the dtype does not have 4 bytes or the tensor is strided
   */
  public float[] toFloatArray() {
    return elements(4).toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
  }

  /**
   * Copies the elements to a new array.
   *
   * @return the elements in row-major order
   */
  public double[] toDoubleArray() {
    return elements(8).toArray(ValueLayout.JAVA_DOUBLE_UNALIGNED);
  }

  /**
   * Copies the memory of the elements to a new array.
   *
   * @return the bytes of the elements in row-major order
   */
  public byte[] toByteArray() {
    return elements(dtype.size()).toArray(ValueLayout.JAVA_BYTE);
  }

  /**
   * Copies the elements to a new array. A byte other than 0 is true.
   *
   * @return the elements in row-major order
   */
  public boolean[] toBooleanArray() {
    byte[] bytes = elements(1).toArray(ValueLayout.JAVA_BYTE);
    boolean[] booleans = new boolean[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      booleans[i] = bytes[i] != 0;
    }
    return booleans;
  }

  /**
   * Copies the elements to a new array.
   *
   * @return the elements in row-major order
   */
  public short[] toShortArray() {
    return elements(2).toArray(ValueLayout.JAVA_SHORT_UNALIGNED);
  }

  /**
   * Copies the elements to a new array.
   *
   * @return the elements in row-major order
   */
  public int[] toIntArray() {
    return elements(4).toArray(ValueLayout.JAVA_INT_UNALIGNED);
  }

  /**
   * Copies the elements to a new array.
   *
   * @return the elements in row-major order
   */
  public long[] toLongArray() {
    return elements(8).toArray(ValueLayout.JAVA_LONG_UNALIGNED);
  }

  private MemorySegment elements(int size) {
    if (dtype.size() != size) {
      throw new IllegalStateException("an element of " + dtype + " does not have " + size + " bytes");
    }
    if (!isDense()) {
      throw new IllegalStateException("the tensor is strided: copy it with Gather.copy");
    }
    return segment.asSlice(0, Math.multiplyExact(size(), size));
  }

  @Override
  public String toString() {
    return dtype + Arrays.toString(shape);
  }
}
