package io.libgather;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The params of a gather: a {@link Tensor}, {@link Packed} rows, which a call decodes as it reads them, or a {@link Table}
 * in files.
 */
public abstract sealed class Params permits Tensor, HeldParams {
  Params() {}

  /**
   * Returns the dtype of the elements that a gather writes.
   *
   * @return the dtype
   */
  public abstract DType dtype();

  /**
   * Returns the extents.
   *
   * @return a new array
   */
  public abstract long[] shape();

  /** Returns this operand in native memory. Memory of the heap is copied to the arena. */
  abstract Params copied(Arena arena);

  /** Returns the handle that a description of this operand names, or NULL if it names memory. */
  abstract MemorySegment handle();

  /** Adds the memory that a call uses, and that the call must keep open. */
  abstract void keep(List<MemorySegment> kept);

  /** Returns the part of the memory that the elements use, for a comparison with arrays that a call writes. */
  abstract MemorySegment used();
}
