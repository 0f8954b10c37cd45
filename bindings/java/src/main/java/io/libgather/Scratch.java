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

  /** An operand is its description, its shape and its strides. */
  private static final long SHAPE = Gth.TensorDesc.BYTES;

  private static final long STRIDES = SHAPE + SHAPE_BYTES;
  private static final long OPERAND_BYTES = STRIDES + SHAPE_BYTES;

  /** The number of results of a call that runs no operation. Such results have no role. */
  private static final int RESULTS = 2;

  private static final int OPERANDS = Role.ALL.length + RESULTS;

  private final SegmentAllocator memory =
      SegmentAllocator.slicingAllocator(Arena.ofAuto().allocate(STRUCT_BYTES + OPERANDS * OPERAND_BYTES, 64));
  private final int slot;

  final MemorySegment error = memory.allocate(Gth.Error.BYTES, 8);
  final MemorySegment options = memory.allocate(Gth.Options.BYTES, 8);
  final MemorySegment request = memory.allocate(Gth.Request.BYTES, 8);
  final MemorySegment args = memory.allocate(Gth.PlanArgs.BYTES, 8);
  final MemorySegment out = memory.allocate(ADDRESS);
  private final MemorySegment[] operands = new MemorySegment[OPERANDS];

  /** The roles that have been described since the scratch was taken: bit i is that of the role with this number. */
  private int described;

  /** The description of the result of a query, and memory for its shape. */
  final MemorySegment result;

  final MemorySegment shape;

  private Scratch(int slot) {
    this.slot = slot;
    error.set(JAVA_LONG, 0, Gth.Error.BYTES);
    args.set(JAVA_LONG, 0, Gth.PlanArgs.BYTES);
    args.set(JAVA_LONG, Gth.PlanArgs.IDS, Gth.OPEN);
    for (int i = 0; i < operands.length; i++) {
      operands[i] = memory.allocate(OPERAND_BYTES, 8);
    }
    result = operands[Role.ROWS.ordinal()];
    shape = result.asSlice(SHAPE, SHAPE_BYTES);
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
    MemorySegment desc = operand(role);
    desc.asSlice(0, Gth.TensorDesc.BYTES).fill((byte) 0);
    desc.set(JAVA_LONG, Gth.TensorDesc.SIZE, Gth.TensorDesc.BYTES);
    desc.set(JAVA_LONG, Gth.TensorDesc.TENSOR, handle.address());
    return desc;
  }

  /** Describes params. */
  MemorySegment describe(Role role, Params params) {
    return params instanceof Tensor tensor ? describe(role, tensor) : describe(role, params.handle());
  }

  /** Describes a tensor. */
  MemorySegment describe(Role role, Tensor tensor) {
    return describe(operand(role), tensor);
  }

  /** Describes a result without a role. */
  MemorySegment describeResult(int result, Tensor tensor) {
    return describe(operands[Role.ALL.length + result], tensor);
  }

  private static MemorySegment describe(MemorySegment desc, Tensor tensor) {
    long[] shape = tensor.shape;
    long[] strides = tensor.strides;
    long bytes = tensor.segment.byteSize();
    desc.set(JAVA_LONG, Gth.TensorDesc.SIZE, Gth.TensorDesc.BYTES | (long) tensor.dtype.number << 32);
    desc.set(JAVA_LONG, Gth.TensorDesc.NDIM, shape.length | (tensor.readOnly ? (long) Gth.TENSOR_READONLY << 32 : 0));
    desc.set(JAVA_LONG, Gth.TensorDesc.TENSOR, 0);
    // Memory on the heap has no address here. Functions that read data never get such a description.
    desc.set(JAVA_LONG, Gth.TensorDesc.DATA, bytes == 0 ? 0 : tensor.isOnHeap() ? 16 : tensor.segment.address());
    desc.set(JAVA_LONG, Gth.TensorDesc.SHAPE, desc.address() + SHAPE);
    desc.set(JAVA_LONG, Gth.TensorDesc.STRIDES, strides == null ? 0 : desc.address() + STRIDES);
    desc.set(JAVA_LONG, Gth.TensorDesc.OFFSET, tensor.offset);
    desc.set(JAVA_LONG, Gth.TensorDesc.EXTENT, bytes);
    write(shape, desc, SHAPE);
    if (strides != null) {
      write(strides, desc, STRIDES);
    }
    return desc;
  }

  private MemorySegment operand(Role role) {
    described |= 1 << role.ordinal();
    return operands[role.ordinal()];
  }

  private static void write(long[] numbers, MemorySegment target, long offset) {
    for (int i = 0; i < numbers.length; i++) {
      target.set(JAVA_LONG, offset + 8L * i, numbers[i]);
    }
  }

  /** Describes the options of a call. */
  MemorySegment describe(Options given) {
    if (given.isDefault) {
      return MemorySegment.NULL;
    }
    given.write(options);
    return options;
  }

  /** Describes a request with the operands that have been described. */
  MemorySegment request(Operation operation, Options given) {
    request.set(JAVA_LONG, Gth.Request.SIZE, Gth.Request.BYTES | (long) operation.number << 32);
    for (int i = 0; i < Role.ALL.length; i++) {
      request.set(JAVA_LONG, Role.ALL[i].offset, (described >> i & 1) != 0 ? operands[i].address() : 0);
    }
    request.set(JAVA_LONG, Gth.Request.OPTIONS, describe(given).address());
    return request;
  }
}
