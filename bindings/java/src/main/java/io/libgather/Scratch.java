package io.libgather;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.libgather.internal.Gth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The structs of one call in native memory. They are reused, because an allocation costs more than a small call. */
final class Scratch {
  private static final int SLOTS = 64;
  private static final int PADDING = 16; // Slots of different threads are in different cache lines.
  private static final AtomicReferenceArray<Scratch> POOL = new AtomicReferenceArray<>(SLOTS * PADDING);

  private static final long SHAPE_BYTES = 8 * Gth.MAX_NDIM;
  private static final long STRUCT_BYTES =
      Gth.Error.BYTES + Gth.Options.BYTES + Gth.Request.BYTES + Gth.PlanArgs.BYTES + ADDRESS.byteSize();
  private static final long OPERAND_BYTES = Gth.TensorDesc.BYTES + 2 * SHAPE_BYTES;

  private final SegmentAllocator memory =
      SegmentAllocator.slicingAllocator(Arena.ofAuto().allocate(STRUCT_BYTES + Role.ALL.length * OPERAND_BYTES, 64));
  private final int slot;

  final MemorySegment error = memory.allocate(Gth.Error.BYTES, 8);
  final MemorySegment options = memory.allocate(Gth.Options.BYTES, 8);
  final MemorySegment request = memory.allocate(Gth.Request.BYTES, 8);
  final MemorySegment args = memory.allocate(Gth.PlanArgs.BYTES, 8);
  final MemorySegment out = memory.allocate(ADDRESS);
  private final Operand[] operands = new Operand[Role.ALL.length];

  /** The roles that have been described since the scratch was taken: bit i is that of the role with this number. */
  private int described;

  /** The description of the result of a query, and memory for its shape. */
  final MemorySegment result;

  final MemorySegment shape;

  /** The description of an operand, and memory for its shape and its strides. */
  private record Operand(MemorySegment desc, MemorySegment shape, MemorySegment strides) {
    Operand(SegmentAllocator memory) {
      this(memory.allocate(Gth.TensorDesc.BYTES, 8), memory.allocate(SHAPE_BYTES, 8), memory.allocate(SHAPE_BYTES, 8));
    }
  }

  private Scratch(int slot) {
    this.slot = slot;
    error.set(JAVA_LONG, 0, Gth.Error.BYTES);
    args.set(JAVA_LONG, 0, Gth.PlanArgs.BYTES);
    for (Role role : Role.ALL) {
      operands[role.ordinal()] = new Operand(memory);
    }
    result = operands[Role.ROWS.ordinal()].desc;
    shape = operands[Role.ROWS.ordinal()].shape;
  }

  /** Returns structs that no other call uses. */
  static Scratch take() {
    int slot = ((int) Thread.currentThread().threadId() & SLOTS - 1) * PADDING;
    Scratch scratch = POOL.getAndSet(slot, null);
    if (scratch == null) {
      return new Scratch(slot);
    }
    scratch.described = 0;
    return scratch;
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

  /** Describes a tensor handle. */
  MemorySegment describe(Role role, MemorySegment handle) {
    MemorySegment desc = operand(role).desc.fill((byte) 0);
    desc.set(JAVA_LONG, Gth.TensorDesc.SIZE, Gth.TensorDesc.BYTES);
    desc.set(JAVA_LONG, Gth.TensorDesc.TENSOR, handle.address());
    return desc;
  }

  /** Describes a tensor. */
  MemorySegment describe(Role role, Tensor tensor) {
    Operand operand = operand(role);
    MemorySegment desc = operand.desc;
    long[] shape = tensor.shape;
    long[] strides = tensor.strides;
    long bytes = tensor.segment.byteSize();
    desc.set(JAVA_LONG, Gth.TensorDesc.SIZE, Gth.TensorDesc.BYTES | (long) tensor.dtype.number << 32);
    desc.set(JAVA_LONG, Gth.TensorDesc.NDIM, shape.length | (tensor.readOnly ? (long) Gth.TENSOR_READONLY << 32 : 0));
    desc.set(JAVA_LONG, Gth.TensorDesc.TENSOR, 0);
    // Memory on the heap has no address here. Functions that read data never get such a description.
    desc.set(JAVA_LONG, Gth.TensorDesc.DATA, bytes == 0 ? 0 : tensor.isOnHeap() ? 16 : tensor.segment.address());
    desc.set(JAVA_LONG, Gth.TensorDesc.SHAPE, operand.shape.address());
    desc.set(JAVA_LONG, Gth.TensorDesc.STRIDES, strides == null ? 0 : operand.strides.address());
    desc.set(JAVA_LONG, Gth.TensorDesc.OFFSET, tensor.offset);
    desc.set(JAVA_LONG, Gth.TensorDesc.EXTENT, bytes);
    write(shape, operand.shape);
    if (strides != null) {
      write(strides, operand.strides);
    }
    return desc;
  }

  private Operand operand(Role role) {
    described |= 1 << role.ordinal();
    return operands[role.ordinal()];
  }

  private static void write(long[] numbers, MemorySegment target) {
    for (int i = 0; i < numbers.length; i++) {
      target.setAtIndex(JAVA_LONG, i, numbers[i]);
    }
  }

  /** Describes the options of a call with params of this dtype, or without params if it is null. */
  MemorySegment describe(Options given, DType params) {
    if (given.isDefault) {
      return MemorySegment.NULL;
    }
    given.write(options, params);
    return options;
  }

  /** Describes a request with the operands that have been described. */
  MemorySegment request(Operation operation, DType params, Options given) {
    request.set(JAVA_LONG, Gth.Request.SIZE, Gth.Request.BYTES | (long) operation.number << 32);
    for (int i = 0; i < operands.length; i++) {
      request.set(JAVA_LONG, Role.ALL[i].offset, (described >> i & 1) != 0 ? operands[i].desc.address() : 0);
    }
    request.set(JAVA_LONG, Gth.Request.OPTIONS, describe(given, params).address());
    return request;
  }
}
