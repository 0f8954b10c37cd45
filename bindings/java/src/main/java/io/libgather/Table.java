package io.libgather;

import static io.libgather.Given.given;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.libgather.internal.Gth;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A table in files, which may be larger than memory, or in several pieces of memory.
 *
 * <p>Tables are params of {@link Gather#gather}, {@link Gather#gatherNd}, {@link Gather#gatherElements} and {@link
 * Gather#gatherBags}, with or without {@code Into} in the name, and of {@link Plan}. Only the rows that indices select
 * are read, and many at once.
 *
 * <pre>{@code
 * Path file = Files.write(Path.of("vectors"), new byte[] {9, 9, 1, 2, 3, 4}); // 2 rows of 2 numbers behind 2 bytes
 * MemorySegment more = MemorySegment.ofArray(new byte[] {5, 6}); // row 2
 * try (Table table = Table.of(DType.INT8, 3, 2).segment(file, 2, 2, 0).segment(more, 0, 1, 0).open()) {
 *   byte[] rows = Gather.gather(table, Tensor.of(new long[] {2, 0})).toByteArray(); // 5, 6, 1, 2
 * }
 * }</pre>
 *
 * <p>If a row cannot be read, a call throws a {@link GatherSystemException}. Files must not change while a table uses
 * them. If a file becomes shorter, rows beyond its end throw this exception. With {@link Builder#mapped}, a page that
 * an earlier call has read raises SIGBUS instead, which ends the process. A file that is removed stays readable.
 *
 * <p>Native memory is not copied. If its arena is closed, or belongs to another thread, calls throw the exceptions of
 * {@link MemorySegment}. An arena cannot be closed while a call uses it. {@link Builder#open} copies arrays.
 *
 * <p>A table is immutable, and threads may share it. A table that is not closed is never released. With a table, each
 * call copies other operands that are arrays.
 */
public final class Table extends HeldParams {
  /** The most arenas of memory, besides that of the handle, that a call can keep open. */
  private static final int ARENAS = 3;

  /** The bytes of a .npy file before the text of its header: the magic number, the version and the length. */
  private static final int NPY_PREFIX = 10;

  /** The header of a .npy file in the form that NumPy writes. An extent of at most 18 digits fits a long. */
  private static final Pattern NPY =
      Pattern.compile(
          "(?s)\u0093NUMPY\u0001\u0000..\\{'descr': '([<|][a-z][0-9]+)', 'fortran_order': False, "
              + "'shape': \\(((?:[0-9]{1,18},|[0-9]{1,18}(?:, [0-9]{1,18})+))\\), \\} *\n");

  private static final Map<String, DType> NPY_DTYPES =
      Map.ofEntries(
          Map.entry("|b1", DType.BOOL),
          Map.entry("|i1", DType.INT8),
          Map.entry("<i2", DType.INT16),
          Map.entry("<i4", DType.INT32),
          Map.entry("<i8", DType.INT64),
          Map.entry("|u1", DType.UINT8),
          Map.entry("<u2", DType.UINT16),
          Map.entry("<u4", DType.UINT32),
          Map.entry("<u8", DType.UINT64),
          Map.entry("<f2", DType.FLOAT16),
          Map.entry("<f4", DType.FLOAT32),
          Map.entry("<f8", DType.FLOAT64),
          Map.entry("<c8", DType.COMPLEX64),
          Map.entry("<c16", DType.COMPLEX128));

  /**
   * The counters of a table since it was opened.
   *
   * @param mapped true if the files are mapped
   * @param rows rows that were read, which rows of a map need not be. Parts of a row count too.
   * @param requested rows, or pages of a map, that were not in memory and were requested
   * @param releases how often pages left the memory of the process because of the budget
   * @param resident the mapped memory after the last call in bytes, or 0 without a budget
   */
  public record Stats(boolean mapped, long rows, long requested, long releases, long resident) {}

  /** Some rows. The path or the memory is null. */
  private record Segment(Path path, MemorySegment memory, long offset, long rows, long rowStride) {}

  private Table(Builder builder) {
    super(builder.dtype, builder.shape, arena -> hold(builder, arena));
  }

  /** Opens the table. Returns the handle, and one segment of each other arena that a call must keep open. */
  private static List<MemorySegment> hold(Builder builder, Arena arena) {
    Packed.Builder format = builder.format;
    List<MemorySegment> memory = new ArrayList<>();
    for (Segment each : builder.segments) {
      memory.add(each.memory == null ? MemorySegment.NULL : Heap.copied(arena, each.memory));
    }
    Tensor scales = format == null || format.scales == null ? null : format.scales.copied(arena);
    Tensor zeros = format == null || format.zeros == null ? null : format.zeros.copied(arena);
    List<MemorySegment> held = new ArrayList<>();
    held.add(Handles.create(arena, Gth::tensorRelease, scratch -> builder.open(scratch, memory, scales, zeros)));
    memory.forEach(each -> addArena(held, each));
    for (Tensor each : new Tensor[] {scales, zeros}) {
      addArena(held, each == null ? MemorySegment.NULL : each.segment);
    }
    if (held.size() > 1 + ARENAS) {
      throw new IllegalArgumentException("the memory of a table is of at most " + ARENAS + " arenas");
    }
    return held;
  }

  private static void addArena(List<MemorySegment> held, MemorySegment memory) {
    if (!memory.equals(MemorySegment.NULL) && held.stream().noneMatch(each -> each.scope().equals(memory.scope()))) {
      held.add(memory);
    }
  }

  /**
   * Returns a builder of a table.
   *
   * @param dtype the dtype of the elements, or of the decoded numbers of packed rows
   * @param shape the extents of the table. The first one is the sum of the rows of all segments.
   * @return a new builder
   */
  public static Builder of(DType dtype, long... shape) {
    return new Builder(given(dtype, "dtype"), given(shape, "shape").clone());
  }

  /**
   * Returns a builder with the array of a file of {@code numpy.save}. Only the header is read.
   *
   * @param file a .npy file with numbers or booleans in row-major order, of at least one dim
   * @return a new builder
   * @throws IOException if the file cannot be read, or does not begin with the header that {@code numpy.save} writes
   */
  public static Builder ofNpy(Path file) throws IOException {
    byte[] start;
    if (!Files.isRegularFile(given(file, "file"))) { // Opening a pipe waits for its writer.
      throw new IOException(file + " is no regular file");
    }
    try (InputStream stream = Files.newInputStream(file)) {
      start = stream.readNBytes(NPY_PREFIX + 0xffff);
    }
    int length = start.length < NPY_PREFIX ? 0 : (start[8] & 0xff) + (start[9] & 0xff) * 256;
    int end = Math.min(start.length, NPY_PREFIX + length);
    Matcher header = NPY.matcher(new String(start, 0, end, StandardCharsets.ISO_8859_1));
    DType dtype = header.matches() ? NPY_DTYPES.get(header.group(1)) : null;
    if (dtype == null || end < NPY_PREFIX + length) {
      throw new IOException(file + " has no header of numpy.save, or another dtype or order");
    }
    long[] shape = Arrays.stream(header.group(2).split(",")).map(String::strip).mapToLong(Long::parseLong).toArray();
    return of(dtype, shape).segment(file, end, shape[0], 0);
  }

  /**
   * Requests the rows that indices select along axis 0 from the system, and does not wait for them. A later gather of
   * these rows waits less. Indices out of bounds are ignored.
   *
   * @param indices integers of any shape
   * @throws GatherArgumentException if the dtype or the memory of indices is invalid
   */
  public void prefetch(Tensor indices) {
    try (Arena call = Arena.ofConfined()) {
      Tensor ids = given(indices, "indices").copied(call);
      Handles.run(
          scratch ->
              Gth.tensorPrefetch(
                  MemorySegment.NULL,
                  handle(),
                  scratch.describe(Role.INDICES, ids),
                  MemorySegment.NULL,
                  scratch.error,
                  ids.segment));
    }
  }

  /**
   * Returns the counters.
   *
   * @return the counters of all calls that have ended
   */
  public Stats stats() {
    try (Arena call = Arena.ofConfined()) {
      MemorySegment stats = call.allocate(Gth.FilesStats.BYTES, 8);
      stats.set(JAVA_INT, Gth.FilesStats.SIZE, (int) Gth.FilesStats.BYTES);
      Handles.run(scratch -> Gth.tensorStats(handle(), stats, scratch.error));
      return new Stats(
          stats.get(JAVA_INT, Gth.FilesStats.MODE) == Gth.FILES_MAP,
          stats.get(JAVA_LONG, Gth.FilesStats.ROWS),
          stats.get(JAVA_LONG, Gth.FilesStats.REQUESTED),
          stats.get(JAVA_LONG, Gth.FilesStats.RELEASES),
          stats.get(JAVA_LONG, Gth.FilesStats.RESIDENT));
    }
  }

  @Override
  public String toString() {
    return dtype() + Arrays.toString(shape());
  }

  /** The segments of a table, and how they are read. */
  public static final class Builder {
    private final DType dtype;
    private final long[] shape;
    private final List<Segment> segments = new ArrayList<>();
    private Packed.Builder format;
    private int mode = Gth.FILES_READ;
    private long resident;

    private Builder(DType dtype, long[] shape) {
      this.dtype = dtype;
      this.shape = shape;
    }

    /**
     * Adds rows of a file.
     *
     * @param file the file
     * @param offset the byte of the first row, which needs no alignment
     * @param rows the number of rows
     * @param rowStride the bytes from row to row, or 0 if the rows follow each other
     * @return this builder
     * @throws UnsupportedOperationException if the file is not of the file system of the computer
     */
    public Builder segment(Path file, long offset, long rows, long rowStride) {
      segments.add(new Segment(given(file, "file").toFile().toPath(), null, offset, rows, rowStride));
      return this;
    }

    /**
     * Adds rows of memory.
     *
     * @param memory the memory. Native memory is not copied, and must not change until the table is closed. All native
     *     memory of a table is of at most three arenas.
     * @param offset the byte of the first row, which needs no alignment
     * @param rows the number of rows
     * @param rowStride the bytes from row to row, or 0 if the rows follow each other
     * @return this builder
     */
    public Builder segment(MemorySegment memory, long offset, long rows, long rowStride) {
      segments.add(new Segment(null, given(memory, "memory"), offset, rows, rowStride));
      return this;
    }

    /**
     * Sets the format of packed rows. Memory, shape, strides and dtype of the format have no effect.
     *
     * @param packed a format, for example {@code Packed.of("q8_0")}
     * @return this builder
     */
    public Builder format(Packed.Builder packed) {
      format = given(packed, "packed");
      return this;
    }

    /**
     * Maps the files instead of reading them. A row that was read before then costs as much as a row in memory. Windows
     * reads the files.
     *
     * @param budget the most mapped memory in bytes, at least 8 MiB, or 0 for no budget. With a budget, rows cost more
     *     than in files that are not mapped if they are not read again.
     * @return this builder
     */
    public Builder mapped(long budget) {
      mode = Gth.FILES_MAP;
      resident = budget;
      return this;
    }

    /**
     * Opens the table. Files must have all rows, but no row is read. Close the table after its use.
     *
     * @return a new table
     * @throws GatherSystemException if a file cannot be opened or is too short
     * @throws GatherArgumentException if the shape or a segment is invalid, or memory is too short
     */
    public Table open() {
      return new Table(this);
    }

    private int open(Scratch scratch, List<MemorySegment> memory, Tensor scales, Tensor zeros) {
      try (Arena call = Arena.ofConfined()) {
        MemorySegment addresses = call.allocate(ADDRESS, segments.size());
        for (int i = 0; i < segments.size(); i++) {
          addresses.setAtIndex(ADDRESS, i, describe(call, segments.get(i), memory.get(i)));
        }
        MemorySegment options = call.allocate(Gth.FilesOptions.BYTES, 8);
        options.set(JAVA_INT, Gth.FilesOptions.SIZE, (int) Gth.FilesOptions.BYTES);
        options.set(JAVA_INT, Gth.FilesOptions.MODE, mode);
        options.set(JAVA_LONG, Gth.FilesOptions.RESIDENT, resident);
        MemorySegment codec = MemorySegment.NULL;
        if (format != null) {
          codec = call.allocate(Gth.Codec.BYTES, 8).copyFrom(format.codec);
        }
        return Packed.describe(
            scratch,
            codec,
            Tensor.shaped(dtype, shape),
            scales,
            zeros,
            desc ->
                Gth.tensorOpen(
                    MemorySegment.NULL,
                    desc,
                    segments.size(),
                    addresses,
                    options,
                    scratch.out,
                    scratch.error,
                    MemorySegment.NULL));
      }
    }

    private static MemorySegment describe(Arena call, Segment given, MemorySegment memory) {
      MemorySegment segment = call.allocate(Gth.Segment.BYTES, 8);
      segment.set(JAVA_INT, Gth.Segment.SIZE, (int) Gth.Segment.BYTES);
      if (given.path != null) {
        segment.set(ADDRESS, Gth.Segment.PATH, call.allocateFrom(given.path.toString()));
      } else { // Memory of 0 bytes has an address too, because NULL is none.
        segment.set(ADDRESS, Gth.Segment.DATA, memory.byteSize() == 0 ? segment : memory);
        segment.set(JAVA_LONG, Gth.Segment.EXTENT, memory.byteSize());
        segment.set(JAVA_INT, Gth.Segment.FLAGS, Gth.SEGMENT_EXTENT);
      }
      segment.set(JAVA_LONG, Gth.Segment.OFFSET, given.offset);
      segment.set(JAVA_LONG, Gth.Segment.ROWS, given.rows);
      segment.set(JAVA_LONG, Gth.Segment.ROW_STRIDE, given.rowStride);
      return segment;
    }
  }
}
