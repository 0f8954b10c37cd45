package io.libgather;

import static io.libgather.Given.given;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.libgather.internal.Gth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A sequence of rows in the format of the Arrow C data interface: arrays of one type, the chunks, which are never
 * joined. Rows may be null. A column of structs is a table.
 *
 * <p>Structs are passed as addresses, as {@code memoryAddress} of Arrow's C data module for Java returns them:
 *
 * <pre>{@code
 * Data.exportVector(allocator, words, null, array, schema);
 * try (Column column = Column.of(schema.memoryAddress(), array.memoryAddress())) {
 *   column.take(Take.of(ids).nullBounds(), rowsSchema.memoryAddress(), rowsArray.memoryAddress());
 * }
 * FieldVector rows = Data.importVector(allocator, rowsArray, rowsSchema, null);
 * }</pre>
 *
 * <p>An address must be that of a valid struct. Otherwise the JVM may crash. A column is immutable, and any number of
 * threads may take rows of it at the same time. A column that is not closed is never released.
 */
public final class Column implements AutoCloseable {
  private final Arena arena;
  private final MemorySegment handle;

  private Column(Handles.Creator creator) {
    arena = Arena.ofShared();
    try {
      handle = Handles.create(arena, Gth::columnRelease, creator);
    } catch (RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  /**
   * Creates a column from arrays. If the call succeeds, the column owns the arrays, and the field {@code release} of
   * each struct is NULL. If it fails, the caller still owns them.
   *
   * <p>The arrays are released when the column has been closed, and all results that share memory with it have been
   * released. Their release function may run on any thread. Their memory must not change before.
   *
   * @param schema the address of a struct ArrowSchema, the type of the arrays, which is only read
   * @param chunks the addresses of different structs ArrowArray
   * @return a new column
   * @throws GatherArgumentException if the type is not supported, or a struct is malformed or released
   */
  public static Column of(long schema, long... chunks) {
    try (Arena call = Arena.ofConfined()) {
      MemorySegment pointers = call.allocateFrom(JAVA_LONG, given(chunks, "chunks"));
      return new Column(
          scratch ->
              Gth.columnFromArrow(
                  MemorySegment.NULL,
                  MemorySegment.ofAddress(schema),
                  chunks.length,
                  pointers,
                  scratch.out,
                  scratch.error));
    }
  }

  /**
   * Creates a column from all arrays of a stream. A stream of record batches is a column of structs. If the call
   * succeeds, the stream has been released. If it fails, the caller releases the stream, whose arrays are lost.
   *
   * @param stream the address of a struct ArrowArrayStream
   * @return a new column
   * @throws GatherArgumentException if the type is not supported, a struct is malformed, or the stream fails. {@link
   *     ErrorDetails#nativeError} is then the error number of the stream.
   */
  public static Column ofStream(long stream) {
    return new Column(
        scratch ->
            Gth.columnFromArrowStream(
                MemorySegment.NULL, MemorySegment.ofAddress(stream), scratch.out, scratch.error));
  }

  /**
   * Writes rows to new structs. The caller owns their content, and calls their release functions or imports them. If
   * the call fails, they are unchanged.
   *
   * <p>Nulls of the column and null indices are null in the result, which has offset 0. It has the type of the column,
   * except that strings, binary and lists become large ones if 32-bit offsets cannot describe them. Dictionaries, and
   * large parts of views, are shared with the column, also after it has been closed.
   *
   * @param take the indices
   * @param schema the address of memory for a struct ArrowSchema. With 0 there is none, and an array that must become a
   *     large one is an error.
   * @param array the address of memory for a struct ArrowArray
   * @throws GatherIndexException if an index is out of bounds. No row has then been read.
   * @throws GatherArgumentException if the indices or the options are invalid, or a row that is taken is malformed. The
   *     details then have the position of its index.
   * @throws GatherUnsupportedException for {@link Bounds#FILL} and {@link Bounds#SKIP}
   * @throws IllegalStateException if the column has been closed
   */
  public void take(Take take, long schema, long array) {
    take.run(handle, schema, array);
  }

  /**
   * Releases the column. Results stay valid. Closing again does nothing.
   *
   * @throws IllegalStateException if another thread takes rows at the same time. The column is then still open.
   */
  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }
}
