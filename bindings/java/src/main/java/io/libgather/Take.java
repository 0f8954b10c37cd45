package io.libgather;

import static io.libgather.Given.given;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.libgather.internal.Gth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The indices of a take, and the meaning of those that select no row. It is immutable.
 *
 * <pre>{@code
 * Take take = Take.of(Tensor.of(new long[] {3, 0, 9})).nullBounds();
 * long[] rows = take.resolve(4); // 3, 0, -1
 * }</pre>
 *
 * <p>The columns of a table take the same rows:
 *
 * <pre>{@code
 * Take take = Take.of(Tensor.of(ids));
 * for (int i = 0; i < table.size(); i++) {
 *   table.get(i).take(take, schemas[i].memoryAddress(), arrays[i].memoryAddress());
 * }
 * }</pre>
 */
public final class Take {
  private final Tensor indices;
  private final Options options;
  private final byte[] validity;
  private final long offset;
  private final int flags;

  private Take(Tensor indices, Options options, byte[] validity, long offset, int flags) {
    this.indices = indices;
    this.options = options;
    this.validity = validity;
    this.offset = offset;
    this.flags = flags;
  }

  /**
   * Takes rows in the row-major order of their indices.
   *
   * @param indices integers of any shape
   * @return a take
   */
  public static Take of(Tensor indices) {
    return new Take(given(indices, "indices"), Options.DEFAULT, null, 0, 0);
  }

  /**
   * Sets the options.
   *
   * @param options negative, bounds, profile, threads and context
   * @return another take
   */
  public Take options(Options options) {
    return new Take(indices, given(options, "options"), validity, offset, flags);
  }

  /**
   * Sets which indices are null. A null index selects null, whatever its value is. The bits have the order of the indices.
   *
   * @param bits a bit for each index in the order of Arrow, least significant first; 0 means null. The take keeps the
   *     array.
   * @param offset the number of the bit of the first index
   * @return another take
   */
  public Take validity(byte[] bits, long offset) {
    return new Take(indices, options, bits, offset, flags);
  }

  /**
   * Lets an index out of bounds select null. The options must then not set another meaning.
   *
   * @return another take
   */
  public Take nullBounds() {
    return new Take(indices, options, validity, offset, flags | Gth.TAKE_NULL);
  }

  /**
   * States that the column is a table: a null index gives null in each child of its structs, and the structs themselves
   * have no nulls, as record batches require.
   *
   * @return another take
   */
  public Take fromTable() {
    return new Take(indices, options, validity, offset, flags | Gth.TAKE_RECORD);
  }

  /**
   * Validates the indices into a number of rows, for a caller that moves the rows itself.
   *
   * @param extent the number of rows
   * @return a row number for each index. It is -1 for a null index, and for an index that selects no row.
   * @throws GatherIndexException if an index is out of bounds
   * @throws GatherArgumentException if the indices or the options are invalid, or the take is from a table
   */
  public long[] resolve(long extent) {
    try (Arena arena = Arena.ofConfined()) {
      long count = indices.size();
      MemorySegment rows = arena.allocate(JAVA_LONG, Math.max(count, 0));
      run(
          arena,
          (take, error, memory) ->
              Gth.resolve(Calls.context(options), extent, take, count, rows, error, memory));
      return rows.toArray(JAVA_LONG);
    }
  }

  /** Takes rows of a column into new structs at these addresses. */
  void run(MemorySegment column, long schema, long array) {
    try (Arena arena = Arena.ofConfined()) {
      run(
          arena,
          (take, error, memory) ->
              Gth.columnTake(
                  Calls.context(options),
                  column,
                  take,
                  MemorySegment.ofAddress(schema),
                  MemorySegment.ofAddress(array),
                  error,
                  memory));
    }
  }

  /** A call with a gth_take, whose indices are in this memory. It returns the status. */
  @FunctionalInterface
  private interface Call {
    int run(MemorySegment take, MemorySegment error, MemorySegment memory);
  }

  private void run(Arena arena, Call call) {
    checkValidity();
    Tensor copy = indices.over(Heap.copied(arena, indices.segment));
    MemorySegment take = arena.allocate(Gth.Take.BYTES, 8);
    take.set(JAVA_INT, Gth.Take.SIZE, (int) Gth.Take.BYTES);
    take.set(JAVA_INT, Gth.Take.FLAGS, flags);
    if (validity != null) {
      take.set(ADDRESS, Gth.Take.VALIDITY, arena.allocateFrom(JAVA_BYTE, validity));
      take.set(JAVA_LONG, Gth.Take.VALIDITY_OFFSET, offset);
    }
    Scratch scratch = Scratch.take();
    try {
      take.set(ADDRESS, Gth.Take.INDICES, scratch.describe(Role.INDICES, copy));
      take.set(ADDRESS, Gth.Take.OPTIONS, scratch.describe(options));
      int status = call.run(take, scratch.error, copy.segment);
      if (status != 0) {
        throw scratch.failure(status);
      }
    } finally {
      scratch.give();
    }
  }

  /** The library does not have the size of the bits. It rejects a negative offset itself. */
  private void checkValidity() {
    if (validity == null) {
      return;
    }
    long bits = 8L * validity.length;
    long count = indices.size();
    if (offset > bits - count) {
      throw ErrorDetails.of(Status.SIZE, OperandName.INDICES, bits, count)
          .exception("indices: the validity has " + bits + " bits, and " + count + " are read from bit " + offset);
    }
  }
}
