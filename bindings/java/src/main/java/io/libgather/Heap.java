package io.libgather;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory of the Java heap. The garbage collector cannot run while the library uses it, so each use is short. */
final class Heap {
  /** The most index values of one use. */
  static final long INDICES = 4096;

  /** The most bytes of rows of one use. */
  static final long ROW_BYTES = 1 << 21;

  private Heap() {}

  /** Returns true if a call with this memory is one use. */
  static boolean isShort(DType indices, long indexBytes, long rowBytes) {
    return indexBytes <= INDICES * indices.size() && rowBytes <= ROW_BYTES;
  }

  /** Returns a copy of memory of the heap, or native memory itself. */
  static MemorySegment copied(Arena arena, MemorySegment segment) {
    return segment.isNative() ? segment : arena.allocate(segment.byteSize(), 64).copyFrom(segment);
  }

  /** Checks that written memory does not overlap other memory. The library gets copies or pieces of it. */
  static void checkOverlap(OperandName written, MemorySegment memory, OperandName read, MemorySegment other) {
    boolean empty = memory.byteSize() == 0 || other.byteSize() == 0;
    if (!empty && memory.asOverlappingSlice(other).isPresent()) {
      throw ErrorDetails.of(Status.ALIAS, written, read.number(), 0).exception(written + " shares memory with " + read);
    }
  }

  /** Returns the exception of a call that would write to read-only memory. */
  static RuntimeException readOnly(Operation operation) {
    OperandName name = Calls.writesRows(operation) ? OperandName.OUT : OperandName.TARGET;
    return ErrorDetails.of(Status.READONLY, name, 0, 0).exception(name + " is read-only");
  }
}
