package io.libgather;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.libgather.internal.Gth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The structs of one call in native memory. They are reused, because an allocation costs more than a small call. */
final class Scratch {
  private static final int SLOTS = 64;
  private static final int PADDING = 16; // Slots of different threads are in different cache lines.
  private static final AtomicReferenceArray<Scratch> POOL = new AtomicReferenceArray<>(SLOTS * PADDING);

  private static final long SHAPE_BYTES = 8 * Gth.MAX_NDIM;

  // The places of the structs.
  private static final long OPTIONS = after(0, Gth.Error.BYTES);
  private static final long TABLE = after(OPTIONS, Gth.Options.BYTES);
  private static final long INDICES = after(TABLE, Gth.TensorDesc.BYTES);
  private static final long ROWS = after(INDICES, Gth.TensorDesc.BYTES);
  private static final long REQUEST = after(ROWS, Gth.TensorDesc.BYTES);
  private static final long ARGS = after(REQUEST, Gth.Request.BYTES);
  private static final long OUT = after(ARGS, Gth.PlanArgs.BYTES);
  private static final long SHAPES = after(OUT, 8);

  /** The first words of structs that begin with their size. */
  private static final long DESC_SIZE = Gth.TensorDesc.BYTES;

  private final MemorySegment memory = Arena.ofAuto().allocate(SHAPES + 6 * SHAPE_BYTES, 64);
  private final int slot;

  final MemorySegment error = memory.asSlice(0, Gth.Error.BYTES);
  final MemorySegment options = memory.asSlice(OPTIONS, Gth.Options.BYTES);
  final MemorySegment table = memory.asSlice(TABLE, Gth.TensorDesc.BYTES);
  final MemorySegment indices = memory.asSlice(INDICES, Gth.TensorDesc.BYTES);
  final MemorySegment rows = memory.asSlice(ROWS, Gth.TensorDesc.BYTES);
  final MemorySegment request = memory.asSlice(REQUEST, Gth.Request.BYTES);
  final MemorySegment args = memory.asSlice(ARGS, Gth.PlanArgs.BYTES);
  final MemorySegment out = memory.asSlice(OUT, 8);

  /** Memory for the shape that a query returns. */
  final MemorySegment shape = memory.asSlice(SHAPES + 4 * SHAPE_BYTES, SHAPE_BYTES);

  /** Returns the next aligned place after a struct. */
  private static long after(long place, long bytes) {
    return place + bytes + 15 & ~15L;
  }

  private Scratch(int slot) {
    this.slot = slot;
    error.set(JAVA_LONG, 0, Gth.Error.BYTES);
    args.set(JAVA_LONG, 0, Gth.PlanArgs.BYTES);
  }

  /** Returns structs that no other call uses. */
  static Scratch take() {
    int slot = ((int) Thread.currentThread().threadId() & SLOTS - 1) * PADDING;
    Scratch scratch = POOL.getAndSet(slot, null);
    return scratch != null ? scratch : new Scratch(slot);
  }

  /** Ends the use of these structs. */
  void give() {
    POOL.setRelease(slot, this);
  }

  /** Returns the exception of a failed call. */
  RuntimeException failure(int status) {
    String message = error.getString(Gth.Error.MESSAGE);
    return ErrorDetails.read(status, error).exception(message);
  }

  MemorySegment describeTable(Tensor tensor) {
    return describe(table, SHAPES, tensor);
  }

  MemorySegment describeIndices(Tensor tensor) {
    return describe(indices, SHAPES + 2 * SHAPE_BYTES, tensor);
  }

  MemorySegment describeRows(Tensor tensor) {
    return describe(rows, SHAPES + 4 * SHAPE_BYTES, tensor);
  }

  /** Describes a tensor handle. */
  static void describe(MemorySegment desc, MemorySegment handle) {
    desc.fill((byte) 0);
    desc.set(JAVA_LONG, Gth.TensorDesc.SIZE, DESC_SIZE);
    desc.set(JAVA_LONG, Gth.TensorDesc.TENSOR, handle.address());
  }

  private MemorySegment describe(MemorySegment desc, long shapes, Tensor tensor) {
    long[] shape = tensor.shape;
    long[] strides = tensor.strides;
    long bytes = tensor.segment.byteSize();
    desc.set(JAVA_LONG, Gth.TensorDesc.SIZE, DESC_SIZE | (long) tensor.dtype.number << 32);
    desc.set(JAVA_LONG, Gth.TensorDesc.NDIM, shape.length | (tensor.readOnly ? (long) Gth.TENSOR_READONLY << 32 : 0));
    desc.set(JAVA_LONG, Gth.TensorDesc.TENSOR, 0);
    // Memory on the heap has no address here. Functions that read data never get such a description.
    desc.set(JAVA_LONG, Gth.TensorDesc.DATA, bytes == 0 ? 0 : tensor.isOnHeap() ? 16 : tensor.segment.address());
    desc.set(JAVA_LONG, Gth.TensorDesc.SHAPE, memory.address() + shapes);
    desc.set(JAVA_LONG, Gth.TensorDesc.STRIDES, strides == null ? 0 : memory.address() + shapes + SHAPE_BYTES);
    desc.set(JAVA_LONG, Gth.TensorDesc.OFFSET, tensor.offset);
    desc.set(JAVA_LONG, Gth.TensorDesc.EXTENT, bytes);
    for (int i = 0; i < shape.length; i++) {
      memory.set(JAVA_LONG, shapes + 8L * i, shape[i]);
    }
    if (strides != null) {
      for (int i = 0; i < strides.length; i++) {
        memory.set(JAVA_LONG, shapes + SHAPE_BYTES + 8L * i, strides[i]);
      }
    }
    return desc;
  }

  /** Describes the options of a call with params of this dtype, or without params if it is null. */
  MemorySegment describe(Options given, DType params) {
    if (given.isDefault) {
      return MemorySegment.NULL;
    }
    given.write(options, params);
    return options;
  }

  /** Describes a request whose operands have been described. */
  MemorySegment request(Operation operation, DType params, MemorySegment rows, Options given) {
    request.set(JAVA_LONG, Gth.Request.SIZE, Gth.Request.BYTES | (long) operation.number << 32);
    request.set(JAVA_LONG, Gth.Request.TABLE, table.address());
    request.set(JAVA_LONG, Gth.Request.INDICES, indices.address());
    request.set(JAVA_LONG, Gth.Request.ROWS, rows.address());
    request.set(JAVA_LONG, Gth.Request.OPTIONS, describe(given, params).address());
    return request;
  }
}
