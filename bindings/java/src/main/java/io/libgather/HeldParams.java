package io.libgather;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Function;

/**
 * Params that have a handle and native memory, and that are released with their arena.
 *
 * <p>No public method is final: then the public classes have bridges to it, which reflection can call.
 */
abstract sealed class HeldParams extends Params implements AutoCloseable permits Packed, Table {
  private final Arena arena = Arena.ofShared();
  private final DType dtype;
  private final long[] shape;

  /** The handle, and then the memory that a call must keep open. */
  private final List<MemorySegment> held;

  /** Calls a function that returns the handle and the memory. If it fails, its arena is closed. */
  HeldParams(DType dtype, long[] shape, Function<Arena, List<MemorySegment>> hold) {
    this.dtype = dtype;
    this.shape = shape;
    try {
      held = hold.apply(arena);
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
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
   * Releases the rows. Calls that use them then throw an IllegalStateException. Closing again does nothing.
   *
   * @throws IllegalStateException if another thread uses the rows at the same time. They are then still open.
   */
  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }

  @Override
  HeldParams copied(Arena arena) {
    return this;
  }

  @Override
  MemorySegment handle() {
    return held.get(0);
  }

  @Override
  void keep(List<MemorySegment> kept) {
    kept.addAll(held);
  }

  /** Returns no memory, because the rows are never in an array. The library compares native memory. */
  @Override
  MemorySegment used() {
    return MemorySegment.NULL;
  }
}
