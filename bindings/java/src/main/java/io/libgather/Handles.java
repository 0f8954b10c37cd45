package io.libgather;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;

/** Handles of the library as segments of arenas. A call with such a segment keeps its arena open. */
final class Handles {
  private Handles() {}

  /** A function that may write a handle to scratch.out, or writes an error to scratch.error. It returns the status. */
  @FunctionalInterface
  interface Creator {
    int create(Scratch scratch);
  }

  /** Runs a call that creates no handle. */
  static void run(Creator call) {
    Scratch scratch = Scratch.take();
    try {
      int status = call.create(scratch);
      if (status != 0) {
        throw scratch.failure(status);
      }
    } finally {
      scratch.give();
    }
  }

  /** Creates a handle. Closing the arena releases it. */
  static MemorySegment create(Arena arena, Consumer<MemorySegment> release, Creator creator) {
    Scratch scratch = Scratch.take();
    try {
      int status = creator.create(scratch);
      if (status != 0) {
        throw scratch.failure(status);
      }
      MemorySegment handle = MemorySegment.ofAddress(scratch.out.get(ValueLayout.JAVA_LONG, 0));
      try {
        return handle.reinterpret(arena, release);
      } catch (RuntimeException e) { // The arena is closed or belongs to another thread.
        release.accept(handle);
        throw e;
      }
    } finally {
      scratch.give();
    }
  }
}
