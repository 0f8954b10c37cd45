package io.libgather;

import static io.libgather.Given.given;

import io.libgather.internal.Gth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A limit for the threads of calls. Without a context, a call uses as many threads as the process may use.
 *
 * <p>A context is valid until its arena is closed. Threads may share it if they may use its arena.
 *
 * <pre>{@code
 * Options single = Options.builder().context(Context.create(1)).build();
 * }</pre>
 */
public final class Context {
  final MemorySegment handle;

  private Context(MemorySegment handle) {
    this.handle = handle;
  }

  /**
   * Creates a context that the garbage collector releases.
   *
   * @param threads the highest number of threads of a call
   * @return a context on the CPU
   * @throws GatherArgumentException if the number is negative
   */
  public static Context create(int threads) {
    return create(Arena.ofAuto(), threads);
  }

  /**
   * Creates a context in an arena. Closing the arena releases the context.
   *
   * @param arena the arena
   * @param threads the highest number of threads of a call
   * @return a context on the CPU
   * @throws GatherArgumentException if the number is negative
   */
  public static Context create(Arena arena, int threads) {
    given(arena, "arena");
    try (Arena call = Arena.ofConfined()) {
      MemorySegment options = call.allocate(Gth.ContextOptions.BYTES, 8);
      options.set(ValueLayout.JAVA_INT, Gth.ContextOptions.SIZE, (int) Gth.ContextOptions.BYTES);
      options.set(ValueLayout.JAVA_INT, Gth.ContextOptions.THREADS, threads);
      return new Context(
          Handles.create(
              arena,
              Gth::contextRelease,
              scratch -> Gth.contextCreate(options, scratch.out, scratch.error)));
    }
  }
}
