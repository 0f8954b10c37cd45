package io.libgather;

import static io.libgather.Given.text;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

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

  /**
   * Runs a call with the memory that it writes, or with a copy of it that is written back if it is of the heap. {@code
   * grain} is that of the tensor.
   */
  static void write(Arena arena, MemorySegment operand, int grain, Consumer<MemorySegment> call) {
    if (operand.isNative()) {
      call.accept(operand);
      return;
    }
    MemorySegment before = copied(arena, operand);
    MemorySegment after = arena.allocate(operand.byteSize(), 64).copyFrom(before);
    call.accept(after);
    writeBack(operand, before, after, grain);
  }

  /** Writes the changed grains only. Another thread may have written the other ones since they were copied. */
  private static void writeBack(MemorySegment operand, MemorySegment before, MemorySegment after, int grain) {
    if (grain >= 8) {
      for (long at = 0; at + 8 <= operand.byteSize(); at += 8) {
        long value = after.get(JAVA_LONG_UNALIGNED, at);
        if (value != before.get(JAVA_LONG_UNALIGNED, at)) {
          operand.set(JAVA_LONG_UNALIGNED, at, value);
        }
      }
    } else if (grain == 4) {
      for (long at = 0; at + 4 <= operand.byteSize(); at += 4) {
        int value = after.get(JAVA_INT_UNALIGNED, at);
        if (value != before.get(JAVA_INT_UNALIGNED, at)) {
          operand.set(JAVA_INT_UNALIGNED, at, value);
        }
      }
    } else {
      for (long at = 0; at < operand.byteSize(); at++) {
        byte value = after.get(JAVA_BYTE, at);
        if (value != before.get(JAVA_BYTE, at)) {
          operand.set(JAVA_BYTE, at, value);
        }
      }
    }
  }

  /** Checks that written memory does not overlap other memory. The library gets copies of it. */
  static void checkOverlap(Operation operation, MemorySegment memory, Role role, MemorySegment other) {
    checkOverlap(operation.kind.name(operation.kind.written), memory, operation.kind.name(role), other);
  }

  /** Checks the memory of two operands with these names. */
  static void checkOverlap(OperandName written, MemorySegment memory, OperandName read, MemorySegment other) {
    boolean empty = memory.byteSize() == 0 || other.byteSize() == 0;
    if (!empty && memory.asOverlappingSlice(other).isPresent()) {
      throw ErrorDetails.of(Status.ALIAS, written, read.number(), 0).exception(text(written) + ": shares memory with " + text(read));
    }
  }

  /** Returns the exception of a call that would write to read-only memory. */
  static RuntimeException readOnly(Operation operation) {
    OperandName name = operation.kind.name(operation.kind.written);
    return ErrorDetails.of(Status.READONLY, name, 0, 0).exception(text(name) + ": the memory is read-only");
  }
}
