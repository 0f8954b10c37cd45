package io.libgather;

import static io.libgather.Given.given;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.libgather.internal.Gth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * An immutable tensor of strings in native memory. It is valid until its arena is closed. Threads may share it if they
 * may use its arena.
 *
 * <pre>{@code
 * Strings words = Strings.of(List.of("zero", "one", "two"), 3);
 * List<String> found = words.make(Operation.GATHER, Tensor.of(new long[] {2, 1}), Options.DEFAULT).toList();
 * }</pre>
 */
public final class Strings {
  private final Arena arena;
  private final MemorySegment handle;
  private final long[] shape;

  private Strings(Arena arena, MemorySegment handle) {
    this.arena = arena;
    this.handle = handle;
    this.shape = readShape();
  }

  /**
   * Creates a tensor of text of rank 1 that the garbage collector releases.
   *
   * @param values the strings
   * @return a new tensor
   */
  public static Strings of(List<String> values) {
    return of(values, given(values, "values").size());
  }

  /**
   * Creates a tensor of text that the garbage collector releases.
   *
   * @param values the strings in row-major order
   * @param shape the extents; no extents mean rank 0
   * @return a new tensor
   * @throws GatherArgumentException if the shape is invalid
   */
  public static Strings of(List<String> values, long... shape) {
    List<String> text = given(values, "values");
    return of(Arena.ofAuto(), text.stream().map(each -> given(each, "a string").getBytes(StandardCharsets.UTF_8)).toList(), shape);
  }

  /**
   * Creates a tensor of strings of bytes in an arena.
   *
   * @param arena the arena; closing it releases the tensor
   * @param values the strings in row-major order
   * @param shape the extents; no extent means rank 0
   * @return a new tensor
   * @throws GatherArgumentException if the shape is invalid
   * @throws IllegalArgumentException if there are more or fewer strings than elements
   */
  public static Strings of(Arena arena, List<byte[]> values, long... shape) {
    given(arena, "arena");
    given(values, "values");
    long count = 1;
    for (long extent : given(shape, "shape")) {
      count = Math.multiplyExact(count, extent);
    }
    if (count != values.size()) {
      throw new IllegalArgumentException(values.size() + " strings for " + count + " elements");
    }
    MemorySegment offsets = arena.allocate(JAVA_LONG, values.size() + 1L);
    long bytes = 0;
    for (int i = 0; i < values.size(); i++) {
      bytes += values.get(i).length;
      offsets.setAtIndex(JAVA_LONG, i + 1L, bytes);
    }
    MemorySegment text = arena.allocate(bytes);
    for (int i = 0; i < values.size(); i++) {
      MemorySegment.copy(values.get(i), 0, text, JAVA_BYTE, offsets.getAtIndex(JAVA_LONG, i), values.get(i).length);
    }
    MemorySegment handle =
        Handles.create(
            arena,
            Gth::tensorRelease,
            scratch -> {
              try (Arena call = Arena.ofConfined()) {
                MemorySegment extents = call.allocateFrom(JAVA_LONG, shape);
                return Gth.tensorFromStrings(
                    MemorySegment.NULL,
                    0,
                    shape.length,
                    extents,
                    offsets,
                    text,
                    text.byteSize(),
                    MemorySegment.NULL,
                    MemorySegment.NULL,
                    scratch.out,
                    scratch.error);
              }
            });
    return new Strings(arena, handle);
  }

  /**
   * Runs a gather of strings.
   *
   * @param operation a gather
   * @param indices the indices
   * @param options the options
   * @return a new tensor, which the garbage collector releases
   * @throws GatherIndexException if an index is out of bounds
   */
  public Strings make(Operation operation, Tensor indices, Options options) {
    return make(operation, indices, null, options);
  }

  /**
   * Runs a scatter of strings: a copy of this tensor, in which updates are written.
   *
   * @param operation a scatter
   * @param indices the indices
   * @param updates the updates
   * @param options the options, without a reduction
   * @return a new tensor, which the garbage collector releases
   * @throws GatherIndexException if an index is out of bounds
   */
  public Strings make(Operation operation, Tensor indices, Strings updates, Options options) {
    given(operation, "operation");
    given(indices, "indices");
    given(options, "options");
    try (Arena call = Arena.ofConfined()) {
      Tensor copy = indices.over(Heap.copied(call, indices.segment));
      Arena result = Arena.ofAuto();
      return new Strings(
          result,
          Handles.create(
              result,
              Gth::tensorRelease,
              scratch -> {
                scratch.describe(Role.TABLE, handle);
                scratch.describe(Role.INDICES, copy);
                if (updates != null) {
                  scratch.describe(Role.ROWS, updates.handle);
                }
                return Gth.make(
                    Calls.context(options),
                    scratch.request(operation, options),
                    scratch.out,
                    scratch.error,
                    handle,
                    copy.segment,
                    updates == null ? MemorySegment.NULL : updates.handle);
              }));
    }
  }

  private long[] readShape() {
    Scratch scratch = Scratch.take();
    try {
      MemorySegment desc = scratch.result.fill((byte) 0);
      desc.set(JAVA_INT, Gth.TensorDesc.SIZE, (int) Gth.TensorDesc.BYTES);
      int status = Gth.tensorDescribe(handle, desc, scratch.error);
      if (status != 0) {
        throw scratch.failure(status);
      }
      int rank = desc.get(JAVA_INT, Gth.TensorDesc.NDIM);
      return desc.get(ADDRESS, Gth.TensorDesc.SHAPE).reinterpret(8L * rank).toArray(JAVA_LONG);
    } finally {
      scratch.give();
    }
  }

  /**
   * Returns the extents.
   *
   * @return a new array
   */
  public long[] shape() {
    return shape.clone();
  }

  /**
   * Copies the strings.
   *
   * @return the bytes of each string in row-major order
   */
  public List<byte[]> toBytes() {
    long count = 1;
    for (long extent : shape) {
      count *= extent;
    }
    try (Arena call = Arena.ofConfined()) {
      MemorySegment found = call.allocate(ADDRESS, 2);
      int status = Gth.tensorStrings(handle, found, found.asSlice(8), MemorySegment.NULL);
      if (status != 0) {
        throw ErrorDetails.of(Status.HANDLE, OperandName.TENSOR, 0, 0).exception("the tensor is released");
      }
      MemorySegment offsets = found.getAtIndex(ADDRESS, 0).reinterpret(8 * (count + 1), arena, null);
      MemorySegment text =
          found.getAtIndex(ADDRESS, 1).reinterpret(offsets.getAtIndex(JAVA_LONG, count), arena, null);
      byte[][] values = new byte[Math.toIntExact(count)][];
      for (int i = 0; i < values.length; i++) {
        long begin = offsets.getAtIndex(JAVA_LONG, i);
        values[i] = text.asSlice(begin, offsets.getAtIndex(JAVA_LONG, i + 1L) - begin).toArray(JAVA_BYTE);
      }
      return List.of(values);
    }
  }

  /**
   * Copies the strings as text in UTF-8.
   *
   * @return the strings in row-major order
   */
  public List<String> toList() {
    return toBytes().stream().map(bytes -> new String(bytes, StandardCharsets.UTF_8)).toList();
  }
}
