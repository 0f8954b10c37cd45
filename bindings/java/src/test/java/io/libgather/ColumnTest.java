package io.libgather;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Columns that are built by hand in native memory. The expected rows are written in each test. */
class ColumnTest {
  private static final long ARRAY_BYTES = 80;
  private static final long ARRAY_RELEASE = 64;
  private static final long SCHEMA_BYTES = 72;
  private static final long SCHEMA_RELEASE = 56;
  private static final FunctionDescriptor RELEASE = FunctionDescriptor.ofVoid(ADDRESS);
  private static final MethodType RELEASE_TYPE = MethodType.methodType(void.class, MemorySegment.class);

  private final Arena arena = Arena.ofShared();
  private final AtomicInteger releases = new AtomicInteger();

  @AfterEach
  void closeArena() {
    arena.close();
  }

  /** Runs as the release function of an array. */
  void releaseArray(MemorySegment array) {
    array.reinterpret(ARRAY_BYTES).set(JAVA_LONG, ARRAY_RELEASE, 0);
    releases.incrementAndGet();
  }

  private MemorySegment stub(String name, MethodType type, FunctionDescriptor function) {
    try {
      MethodHandle method = MethodHandles.lookup().findVirtual(ColumnTest.class, name, type).bindTo(this);
      return Linker.nativeLinker().upcallStub(method, function, arena);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(name, e);
    }
  }

  private static byte[] ints(int... numbers) {
    return MemorySegment.ofArray(numbers).toArray(JAVA_BYTE);
  }

  private static byte[] longs(long... numbers) {
    return MemorySegment.ofArray(numbers).toArray(JAVA_BYTE);
  }

  private static byte[] bits(int... bytes) {
    byte[] bits = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      bits[i] = (byte) bytes[i];
    }
    return bits;
  }

  private MemorySegment array(long length, byte[]... buffers) {
    MemorySegment pointers = arena.allocate(ADDRESS, buffers.length);
    for (int i = 0; i < buffers.length; i++) {
      MemorySegment buffer = arena.allocate(buffers[i].length + 1L, 8);
      pointers.setAtIndex(ADDRESS, i, buffer.copyFrom(MemorySegment.ofArray(buffers[i])));
    }
    MemorySegment array = arena.allocate(ARRAY_BYTES, 8);
    array.set(JAVA_LONG, 0, length);
    array.set(JAVA_LONG, 8, -1);
    array.set(JAVA_LONG, 24, buffers.length);
    array.set(ADDRESS, 40, pointers);
    array.set(ADDRESS, ARRAY_RELEASE, stub("releaseArray", RELEASE_TYPE, RELEASE));
    return array;
  }

  private MemorySegment schema(String format) {
    MemorySegment schema = arena.allocate(SCHEMA_BYTES, 8);
    schema.set(ADDRESS, 0, arena.allocateFrom(format));
    schema.set(JAVA_LONG, 24, 2);
    schema.set(JAVA_LONG, SCHEMA_RELEASE, 1); // Nobody calls it, because a schema is only read.
    return schema;
  }

  private Column column(String format, MemorySegment... arrays) {
    Column column =
        Column.of(schema(format).address(), Arrays.stream(arrays).mapToLong(MemorySegment::address).toArray());
    for (MemorySegment array : arrays) {
      assertEquals(0, array.get(JAVA_LONG, ARRAY_RELEASE));
    }
    return column;
  }

  /** Returns the column 10, null, 30, 40. */
  private Column numbers() {
    return column("l", array(4, bits(0b1101), longs(10, -1, 30, 40)));
  }

  /** Returns the column "zero", null, "", "drei". The last offset is end. */
  private Column words(int end) {
    byte[] text = "zerodrei".getBytes(StandardCharsets.UTF_8);
    return column("u", array(4, bits(0b1101), ints(0, 4, 4, 4, end), text));
  }

  /** The structs of a result. */
  private record Rows(MemorySegment schema, MemorySegment array) implements AutoCloseable {
    int size() {
      return (int) array.get(JAVA_LONG, 0);
    }

    MemorySegment buffer(int i, long bytes) {
      return array.get(ADDRESS, 40).reinterpret(ADDRESS.byteSize() * (i + 1)).getAtIndex(ADDRESS, i).reinterpret(bytes);
    }

    boolean isValid(int row) {
      MemorySegment validity = buffer(0, row / 8 + 1);
      return validity.address() == 0 || (validity.get(JAVA_BYTE, row / 8) >> row % 8 & 1) != 0;
    }

    List<Long> numbers() {
      List<Long> all = new ArrayList<>();
      for (int row = 0; row < size(); row++) {
        all.add(isValid(row) ? buffer(1, 8L * size()).getAtIndex(JAVA_LONG, row) : null);
      }
      return all;
    }

    List<String> words() {
      MemorySegment offsets = buffer(1, 4L * (size() + 1));
      MemorySegment text = buffer(2, offsets.getAtIndex(JAVA_INT, size()));
      List<String> all = new ArrayList<>();
      for (int row = 0; row < size(); row++) {
        int begin = offsets.getAtIndex(JAVA_INT, row);
        byte[] word = text.asSlice(begin, offsets.getAtIndex(JAVA_INT, row + 1) - begin).toArray(JAVA_BYTE);
        all.add(isValid(row) ? new String(word, StandardCharsets.UTF_8) : null);
      }
      return all;
    }

    @Override
    public void close() {
      release(schema, SCHEMA_RELEASE);
      release(array, ARRAY_RELEASE);
    }
  }

  private static void release(MemorySegment struct, long field) {
    MemorySegment function = struct.get(ADDRESS, field);
    assertNotEquals(0, function.address());
    try {
      Linker.nativeLinker().downcallHandle(RELEASE).invokeExact(function, struct);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
    assertEquals(0, struct.get(JAVA_LONG, field));
  }

  private Rows take(Column column, Take take) {
    Rows rows = new Rows(arena.allocate(SCHEMA_BYTES, 8), arena.allocate(ARRAY_BYTES, 8));
    column.take(take, rows.schema.address(), rows.array.address());
    return rows;
  }

  @Test
  void numbersWithNullsRepeatedRowsAndNullBounds() {
    try (Column column = numbers();
        Rows rows = take(column, Take.of(Tensor.of(new long[] {3, 0, 3, 9, 1, 2})).nullBounds())) {
      assertEquals(Arrays.asList(40L, 10L, 40L, null, null, 30L), rows.numbers());
      assertEquals("l", rows.schema.get(ADDRESS, 0).reinterpret(2).getString(0));
      assertEquals(0, rows.array.get(JAVA_LONG, 16));
    }
  }

  @Test
  void columnsOfATableTakeTheSameRows() {
    Take take = Take.of(Tensor.of(new long[] {3, 9, 0})).nullBounds();
    List<Rows> rows = new ArrayList<>();
    for (Column column : List.of(numbers(), words(8))) {
      rows.add(take(column, take));
      column.close();
    }
    assertEquals(Arrays.asList(40L, null, 10L), rows.get(0).numbers());
    assertEquals(Arrays.asList("drei", null, "zero"), rows.get(1).words());
    rows.forEach(Rows::close);
  }

  @Test
  void stringsOfNullIndicesAreNull() {
    Options wrap = Options.builder().negative(Negative.WRAP).build();
    // The validity begins at bit 2. The index 77 is null.
    Take take = Take.of(Tensor.of(new int[] {3, 77, 2, -1, 1, 0})).options(wrap).validity(bits(0b1111_0100), 2);
    try (Column column = words(8);
        Rows rows = take(column, take)) {
      assertEquals(Arrays.asList("drei", null, "", "drei", null, "zero"), rows.words());
    }
  }

  @Test
  void rowsOfChunksInAContext() {
    Options single = Options.builder().context(Context.create(arena, 1)).build();
    MemorySegment indices = arena.allocateFrom(JAVA_LONG, 2, 1);
    try (Column column = column("l", array(2, bits(3), longs(1, 2)), array(2, bits(3), longs(3, 4)));
        Rows rows = take(column, Take.of(Tensor.of(indices, DType.INT64, 2)).options(single))) {
      assertEquals(List.of(3L, 2L), rows.numbers());
    }
    assertEquals(2, releases.get());
  }

  @Test
  void invalidIndexHasPositionValueAndLimit() {
    Take take = Take.of(Tensor.of(new long[] {0, 3, 4, 5}));
    try (Column column = numbers()) {
      GatherIndexException error = assertThrows(GatherIndexException.class, () -> take(column, take));
      assertEquals(OperandName.INDICES, error.operand());
      assertArrayEquals(new long[] {2, 4, 4}, new long[] {error.position(), error.value(), error.limit()});
      Options fill = Options.builder().bounds(Bounds.FILL).build();
      assertThrows(GatherUnsupportedException.class, () -> take(column, take.options(fill)));
    }
  }

  @Test
  void malformedRowHasThePositionOfItsIndex() {
    try (Column column = words(3)) {
      Take take = Take.of(Tensor.of(new long[] {1, 3}));
      GatherArgumentException error = assertThrows(GatherArgumentException.class, () -> take(column, take));
      assertEquals(Status.ARROW, error.details().status());
      assertEquals(1, error.details().position());
    }
  }

  @Test
  void malformedArrayStaysWithItsOwner() {
    MemorySegment array = array(4, bits(0b1111));
    for (String format : List.of("l", "+us:0")) {
      long schema = schema(format).address();
      assertThrows(GatherArgumentException.class, () -> Column.of(schema, array.address()));
    }
    assertThrows(GatherArgumentException.class, () -> Column.of(0));
    assertThrows(GatherArgumentException.class, () -> Column.ofStream(0));
    assertEquals(0, releases.get());
    release(array, ARRAY_RELEASE);
    assertEquals(1, releases.get());
  }

  @Test
  void arrayIsReleasedOnce() {
    Column column = numbers();
    Take take = Take.of(Tensor.of(new long[] {0}));
    Rows rows = take(column, take);
    assertEquals(0, releases.get());
    column.close();
    assertEquals(1, releases.get());
    column.close();
    assertEquals(1, releases.get());
    assertEquals(List.of(10L), rows.numbers());
    rows.close();
    assertThrows(IllegalStateException.class, () -> take(column, take));
  }

  /** The long strings of the rows have 70,000 bytes, more than a quarter of the data. So the result shares them. */
  @Test
  void sharedMemoryIsReleasedAfterTheLastRows() {
    byte[] text = "fourteen bytes".getBytes(StandardCharsets.UTF_8);
    MemorySegment view = MemorySegment.ofArray(new byte[16]);
    view.set(JAVA_BYTE, 0, (byte) 14);
    MemorySegment.copy(text, 0, view, JAVA_BYTE, 4, 4);
    Column column = column("vu", array(1, bits(1), view.toArray(JAVA_BYTE), text, longs(14)));
    Rows rows = take(column, Take.of(Tensor.of(new long[5000])));
    column.close();
    assertEquals(0, releases.get());
    rows.close();
    assertEquals(1, releases.get());
  }

  private MemorySegment remaining;

  /** Runs as get_schema of a stream. */
  int getSchema(MemorySegment stream, MemorySegment out) {
    MemorySegment schema = schema("l");
    schema.set(ADDRESS, SCHEMA_RELEASE, stub("releaseSchema", RELEASE_TYPE, RELEASE));
    out.reinterpret(SCHEMA_BYTES).copyFrom(schema);
    return 0;
  }

  /** Runs as the release function of a schema. */
  void releaseSchema(MemorySegment schema) {
    schema.reinterpret(SCHEMA_BYTES).set(JAVA_LONG, SCHEMA_RELEASE, 0);
  }

  /** Runs as get_next of a stream. */
  int getNext(MemorySegment stream, MemorySegment out) {
    out.reinterpret(ARRAY_BYTES).fill((byte) 0);
    if (remaining != null) {
      out.reinterpret(ARRAY_BYTES).copyFrom(remaining);
    }
    remaining = null;
    return 0;
  }

  /** Runs as the release function of a stream. */
  void releaseStream(MemorySegment stream) {
    stream.reinterpret(40).set(JAVA_LONG, 24, 0);
  }

  @Test
  void columnHasAllArraysOfAStream() {
    MethodType get = MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class);
    FunctionDescriptor function = FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS);
    MemorySegment stream = arena.allocate(40, 8);
    stream.set(ADDRESS, 0, stub("getSchema", get, function));
    stream.set(ADDRESS, 8, stub("getNext", get, function));
    stream.set(ADDRESS, 24, stub("releaseStream", RELEASE_TYPE, RELEASE));
    remaining = array(2, bits(3), longs(1, 2));
    try (Column column = Column.ofStream(stream.address())) {
      assertEquals(0, stream.get(JAVA_LONG, 24));
      try (Rows rows = take(column, Take.of(Tensor.of(new long[] {1, 0})))) {
        assertEquals(List.of(2L, 1L), rows.numbers());
      }
    }
    assertEquals(1, releases.get());
  }

  @Test
  void threadsShareAColumn() {
    Take take = Take.of(Tensor.of(new long[] {2, 1}));
    try (Column column = numbers()) {
      IntStream.range(0, 2000)
          .parallel()
          .forEach(
              i -> {
                try (Rows rows = take(column, take)) {
                  assertEquals(Arrays.asList(30L, null), rows.numbers());
                }
              });
    }
  }

  @Test
  void tooShortValidityIsRejected() {
    Take take = Take.of(Tensor.of(new long[7]));
    assertArrayEquals(new long[7], take.validity(bits(0b1111_1110), 1).resolve(1));
    for (long offset : new long[] {2, Long.MAX_VALUE, -1}) {
      Take rejected = take.validity(bits(0xff), offset);
      GatherArgumentException error = assertThrows(GatherArgumentException.class, () -> rejected.resolve(1));
      assertEquals(Status.SIZE, error.details().status());
    }
  }

  @Test
  void rowNumbersOfIndices() {
    Options wrap = Options.builder().negative(Negative.WRAP).build();
    Take take = Take.of(Tensor.of(new long[] {3, -1, 9, 0}, 2, 2)).options(wrap);
    assertArrayEquals(new long[] {3, 4, -1, 0}, take.nullBounds().resolve(5));
    GatherIndexException error = assertThrows(GatherIndexException.class, () -> take.resolve(5));
    assertArrayEquals(new long[] {2, 9, 5}, new long[] {error.position(), error.value(), error.limit()});
    assertThrows(GatherArgumentException.class, () -> take.fromTable().resolve(5));
    assertThrows(GatherArgumentException.class, () -> take.fromTable().nullBounds().resolve(5));
    Take two = Take.of(Tensor.of(new long[] {3, -1, 9, 0})).validity(bits(0b0111_0110), 3);
    assertArrayEquals(new long[] {-1, 4, -1, 0}, two.options(wrap).nullBounds().resolve(5));
  }
}
