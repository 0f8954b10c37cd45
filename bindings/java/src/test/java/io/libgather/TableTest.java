package io.libgather;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;

/** Rows of tables in files are those that have been written to the files, in every call that takes params. */
class TableTest {
  private static final int ROWS = 7;
  private static final int WIDTH = 9;
  private static final byte[] GAP = {1, 2, 3, 4, 5};
  private static final List<UnaryOperator<Table.Builder>> MODES =
      List.of(each -> each, each -> each.mapped(0), each -> each.mapped(8 << 20));

  private static final boolean IS_WINDOWS = System.getProperty("os.name").startsWith("Windows"); // which maps no files

  @TempDir(factory = PlainFolders.class)
  private Path folder;

  /** Folders whose names need no random numbers. Wine lacks a function of networks that they would need. */
  static final class PlainFolders implements TempDirFactory {
    @Override
    public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext extension) throws IOException {
      return Files.createDirectory(Path.of(System.getProperty("java.io.tmpdir"), "gather" + System.nanoTime()));
    }
  }

  private static float number(int row, int j) {
    return 100 * row + j + 0.25f;
  }

  private static float[] rows(int... rows) {
    float[] found = new float[rows.length * WIDTH];
    for (int i = 0; i < found.length; i++) {
      found[i] = number(rows[i / WIDTH], i % WIDTH);
    }
    return found;
  }

  private static byte[] row(int i) {
    return MemorySegment.ofArray(rows(i)).toArray(ValueLayout.JAVA_BYTE);
  }

  private Path file(String name, byte[]... parts) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (byte[] each : parts) {
      bytes.writeBytes(each);
    }
    return Files.write(folder.resolve(name), bytes.toByteArray());
  }

  /** Returns 3 rows with gaps in a file, one in memory, 2 in another file, and one at another place of the first. */
  private Table.Builder pieces() throws IOException {
    Path first = file("first", row(6), GAP, row(0), GAP, row(1), GAP, row(2));
    Path second = file("second", GAP, row(4), row(5), GAP);
    int bytes = 4 * WIDTH;
    return Table.of(DType.FLOAT32, ROWS, WIDTH)
        .segment(first, bytes + GAP.length, 3, bytes + GAP.length)
        .segment(MemorySegment.ofArray(row(3)), 0, 1, 0)
        .segment(second, GAP.length, 2, 0)
        .segment(first, 0, 1, 0);
  }

  private static void checkRows(Table table) {
    int[] picked = {6, 0, 3, 5};
    Tensor ids = Tensor.of(picked);
    assertArrayEquals(rows(picked), Gather.gather(table, ids).toFloatArray());
    assertArrayEquals(rows(picked), Gather.gatherNd(table, Tensor.of(picked, 4, 1)).toFloatArray());
    float[] out = new float[4 * WIDTH];
    Gather.gatherInto(Tensor.of(out, 4, WIDTH), table, ids);
    assertArrayEquals(rows(picked), out);
    int[] places = {3, 6, 0, 5, 5, 1, 2, 4, 6};
    float[] elements = Gather.gatherElements(table, Tensor.of(places, 1, WIDTH)).toFloatArray();
    for (int j = 0; j < WIDTH; j++) {
      assertEquals(number(places[j], j), elements[j]);
    }
    float[] sums = Gather.gatherBags(table, ids, Tensor.of(new int[] {0, 3, 4}), Options.DEFAULT).toFloatArray();
    Options max = Options.builder().pool(Pool.MAX).build();
    float[] maxima = Gather.gatherBags(table, Tensor.of(picked, 2, 2), null, max).toFloatArray();
    for (int j = 0; j < WIDTH; j++) {
      assertEquals(number(6, j) + number(0, j) + number(3, j), sums[j]);
      assertEquals(number(5, j), sums[WIDTH + j]);
      assertEquals(number(6, j), maxima[j]);
    }
    Plan plan = Plan.gather(table, Tensor.shaped(DType.INT32, Plan.OPEN), Options.DEFAULT);
    Arrays.fill(out, 7);
    plan.run(4, MemorySegment.NULL, MemorySegment.ofArray(picked), MemorySegment.ofArray(out));
    assertArrayEquals(rows(picked), out);
    assertEquals(DType.FLOAT32, table.dtype());
    assertEquals("FLOAT32[7, 9]", table.toString());
  }

  @Test
  void rowsOfSegmentsAreThoseOfTheFiles() throws IOException {
    for (UnaryOperator<Table.Builder> mode : MODES) {
      try (Table table = mode.apply(pieces()).open()) {
        checkRows(table);
        float[] out = new float[2 * WIDTH];
        Tensor wrong = Tensor.of(new long[] {6, 7});
        GatherIndexException error =
            assertThrows(GatherIndexException.class, () -> Gather.gatherInto(Tensor.of(out, 2, WIDTH), table, wrong));
        assertEquals(1, error.position());
        assertEquals(7, error.value());
        assertArrayEquals(new float[2 * WIDTH], out);
        table.prefetch(Tensor.of(new short[] {0, 6, -9, 100}, 2, 2));
        Table.Stats stats = table.stats();
        assertEquals(!IS_WINDOWS && mode != MODES.get(0), stats.mapped());
        assertTrue(mode == MODES.get(1) || stats.rows() > 0);
        assertEquals(!IS_WINDOWS && mode == MODES.get(2), stats.resident() > 0);
        assertThrows(GatherArgumentException.class, () -> table.prefetch(Tensor.of(new float[] {1})));
      }
    }
  }

  @Test
  void exampleOfTheDocumentation() throws IOException {
    Path file = Files.write(folder.resolve("vectors"), new byte[] {9, 9, 1, 2, 3, 4}); // 2 rows of 2 behind 2 bytes
    MemorySegment more = MemorySegment.ofArray(new byte[] {5, 6}); // row 2
    try (Table table = Table.of(DType.INT8, 3, 2).segment(file, 2, 2, 0).segment(more, 0, 1, 0).open()) {
      byte[] rows = Gather.gather(table, Tensor.of(new long[] {2, 0})).toByteArray();
      assertArrayEquals(new byte[] {5, 6, 1, 2}, rows);
    }
  }

  @Test
  void packedRowsOfFilesAreDecoded() throws IOException {
    Path file = file("codes", GAP, new byte[] {2, -4}, GAP, new byte[] {6, 8});
    Tensor scales = Tensor.of(new float[] {0.5f, 2}, 2, 1);
    Table.Builder builder = Table.of(DType.FLOAT32, 2, 2).segment(file, 5, 2, 7);
    try (Table table = builder.format(Packed.of("int8").scales(scales)).open()) {
      assertArrayEquals(new float[] {12, 16, 1, -2}, Gather.gather(table, Tensor.of(new long[] {1, 0})).toFloatArray());
    }
    Table.Builder memory = Table.of(DType.FLOAT32, 1, 2, 32).segment(MemorySegment.ofArray(new byte[67]), 0, 1, 0);
    assertRefused(Status.STRIDE, OperandName.FILE, memory.format(Packed.of("q8_0")));
  }

  private static ErrorDetails assertRefused(Status status, OperandName operand, Table.Builder builder) {
    RuntimeException error = assertThrows(RuntimeException.class, builder::open);
    ErrorDetails details = ((GatherFailure) error).details();
    assertEquals(status, details.status(), error::toString);
    assertEquals(operand, details.operand(), error::toString);
    return details;
  }

  @Test
  void wrongSegmentsAreRefused() throws IOException {
    Path file = file("bytes", new byte[24]);
    MemorySegment memory = MemorySegment.ofArray(new byte[15]);
    assertRefused(Status.SHAPE, OperandName.FILE, Table.of(DType.INT64, 0, 1));
    assertRefused(Status.SHAPE, OperandName.TENSOR, Table.of(DType.INT64, 2, 1).segment(file, 0, 3, 0));
    assertRefused(Status.SHAPE, OperandName.FILE, Table.of(DType.INT64, 0, 1).segment(file, 0, 0, 0));
    assertRefused(Status.STRIDE, OperandName.FILE, Table.of(DType.INT64, 1, 1).segment(file, -1, 1, 0));
    assertRefused(Status.STRIDE, OperandName.FILE, Table.of(DType.INT64, 2, 1).segment(file, 0, 2, 7));
    assertRefused(Status.SIZE, OperandName.FILE, Table.of(DType.INT64, 3, 1).segment(file, 0, 3, Long.MAX_VALUE));
    assertRefused(Status.SIZE, OperandName.FILE, Table.of(DType.INT64, 1, 1).segment(memory, Long.MAX_VALUE, 1, 0));
    assertRefused(Status.STRIDE, OperandName.FILE, Table.of(DType.INT64, 2, 1).segment(memory, 0, 2, 0));
    assertRefused(Status.STRIDE, OperandName.FILE, Table.of(DType.INT32, 2, 1).segment(memory, 0, 2, 12));
    assertRefused(Status.VERSION, OperandName.OPTIONS, Table.of(DType.INT64, 3, 1).segment(file, 0, 3, 0).mapped(1));
    Table.Builder second = Table.of(DType.INT64, 4, 1).segment(file, 0, 3, 0).segment(memory, 8, 1, 0);
    ErrorDetails details = assertRefused(Status.STRIDE, OperandName.FILE, second);
    assertEquals(List.of(1L, 16L, 15L), List.of((long) details.component(), details.value(), details.limit()));
    MemorySegment empty = MemorySegment.ofArray(new byte[0]);
    details = assertRefused(Status.STRIDE, OperandName.FILE, Table.of(DType.INT8, 1, 1).segment(empty, 0, 1, 0));
    assertEquals(List.of(0L, 1L, 0L), List.of((long) details.component(), details.value(), details.limit()));
    try (Table table = Table.of(DType.INT64, 2, 0).segment(empty, 0, 2, 0).open()) {
      assertArrayEquals(new long[] {2, 0}, table.shape());
    }
  }

  private static void assertIo(ErrorDetails details, int errno, long position, long value, long limit) {
    ErrorDetails wanted =
        new ErrorDetails(Status.IO, OperandName.FILE, 1, position, value, limit, -1, false, false, errno);
    assertEquals(wanted, details);
  }

  @Test
  void filesThatCannotBeOpenedAreRefused() throws IOException {
    Path file = file("bytes", new byte[24]);
    Path absent = folder.resolve("missing");
    Table.Builder missing = Table.of(DType.INT64, 4, 1).segment(file, 0, 3, 0).segment(absent, 0, 1, 0);
    assertIo(assertRefused(Status.IO, OperandName.FILE, missing), 2, -1, 0, 0); // ENOENT
    if (!IS_WINDOWS) {
      Table.Builder directory = Table.of(DType.INT64, 4, 1).segment(file, 0, 3, 0).segment(folder, 0, 1, 0);
      assertIo(assertRefused(Status.IO, OperandName.FILE, directory), 21, -1, 0, 0); // EISDIR
    }
    Table.Builder behind = Table.of(DType.INT64, 6, 1).segment(file, 0, 3, 0).segment(file, 1, 3, 0);
    assertIo(assertRefused(Status.IO, OperandName.FILE, behind), 0, -1, 1, 24);
  }

  @Test
  void fileThatIsCutAfterOpeningIsASystemException() throws IOException {
    int rows = 4096; // of 16 bytes, which are more than a page
    for (UnaryOperator<Table.Builder> mode : MODES) {
      Path path = file("cut" + MODES.indexOf(mode), new byte[16 * rows]);
      MemorySegment zeros = MemorySegment.ofArray(new float[4]);
      Table.Builder builder = Table.of(DType.FLOAT32, rows + 1, 4).segment(zeros, 0, 1, 0);
      try (Table table = mode.apply(builder.segment(path, 0, rows, 0)).open()) {
        try (RandomAccessFile open = new RandomAccessFile(path.toFile(), "rw")) {
          open.setLength(100);
        }
        Tensor ids = Tensor.of(new int[] {0, rows, 1, 2});
        GatherSystemException error = assertThrows(GatherSystemException.class, () -> Gather.gather(table, ids));
        assertIo(error.details(), 0, 1, 16L * (rows - 1), 16);
        Tensor bags = Tensor.of(new int[] {0, 1, 0, rows}, 2, 2);
        error = assertThrows(GatherSystemException.class, () -> Gather.gatherBags(table, bags, null, Options.DEFAULT));
        assertIo(error.details(), 0, 3, 16L * (rows - 1), 16);
      }
    }
  }

  /** Returns a file of version 1.0 with a header of 118 bytes, and 24 bytes of data. */
  private static byte[] npy(String header) {
    ByteBuffer file = ByteBuffer.allocate(128 + 24).order(ByteOrder.LITTLE_ENDIAN);
    file.put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0}).putShort((short) 118);
    file.put((header + " ".repeat(117 - header.length()) + "\n").getBytes(StandardCharsets.ISO_8859_1));
    return file.putFloat(0).putFloat(1).putFloat(10).putFloat(11).putFloat(20).putFloat(21).array();
  }

  @Test
  void rowsOfAnNpyFileAreFound() throws IOException {
    Path file = file("npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"));
    try (Table table = Table.ofNpy(file).mapped(0).open()) {
      assertArrayEquals(new long[] {3, 2}, table.shape());
      assertArrayEquals(new float[] {20, 21, 0, 1}, Gather.gather(table, Tensor.of(new int[] {2, 0})).toFloatArray());
    }
    file = file("npy", npy("{'descr': '|i1', 'fortran_order': False, 'shape': (24,), }"));
    try (Table table = Table.ofNpy(file).open()) {
      assertEquals("INT8[24]", table.toString());
    }
  }

  @Test
  void hostileNpyFilesAreRefused() throws IOException {
    String right = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
    byte[] whole = npy(right);
    for (int size = 0; size < 128; size++) {
      Path cut = file("npy", Arrays.copyOf(whole, size));
      assertThrows(IOException.class, () -> Table.ofNpy(cut), "cut at " + size);
    }
    for (int i = 0; i < 10; i++) { // the magic number, the version and the length
      byte[] changed = whole.clone();
      changed[i] ^= 4;
      Path file = file("npy", changed);
      assertThrows(IOException.class, () -> Table.ofNpy(file));
    }
    for (String[] each :
        new String[][] {
          {"(3, 2)", "(-3, -2)"}, {"(3, 2)", "()"}, {"(3, 2)", "(3 2)"}, {"(3, 2)", "(9999999999999999999, 2)"},
          {"<f4", ">f4"}, {"<f4", "|O"}, {"<f4", "<f16"}, {"'<f4'", "[('a', '<f4')]"}, {"False", "True"}, {"}", "}}"}
        }) {
      Path file = file("npy", npy(right.replace(each[0], each[1])));
      assertThrows(IOException.class, () -> Table.ofNpy(file), each[1]);
    }
    Path large = file("npy", npy(right.replace("3", "999999999999999999").replace("2", "999999999999999999")));
    assertRefused(Status.SIZE, OperandName.TENSOR, Table.ofNpy(large));
    Path behind = file("npy", npy(right.replace("3", "4")));
    assertRefused(Status.IO, OperandName.FILE, Table.ofNpy(behind));
    assertThrows(IOException.class, () -> Table.ofNpy(folder));
    assertThrows(IOException.class, () -> Table.ofNpy(folder.resolve("missing")));
  }

  @Test
  void closedTableIsAnIllegalState() throws IOException {
    Table table = pieces().open();
    Tensor ids = Tensor.of(new int[] {1});
    Plan plan = Plan.gather(table, ids, Options.DEFAULT);
    table.close();
    table.close();
    assertThrows(IllegalStateException.class, () -> Gather.gather(table, ids));
    assertThrows(IllegalStateException.class, () -> table.prefetch(ids));
    assertThrows(IllegalStateException.class, table::stats);
    MemorySegment out = MemorySegment.ofArray(new float[WIDTH]);
    assertThrows(IllegalStateException.class, () -> plan.run(MemorySegment.NULL, ids.segment(), out));
  }

  @Test
  void arenasOfSegmentsStayOpenDuringCalls() throws Exception {
    Arena[] arenas = {Arena.ofShared(), Arena.ofConfined(), Arena.ofAuto(), Arena.ofAuto()};
    Table.Builder builder = Table.of(DType.INT64, 6, 1);
    for (int i = 0; i < 6; i++) { // two segments of each of three arenas
      builder.segment(arenas[i / 2].allocateFrom(ValueLayout.JAVA_LONG, i), 0, 1, 0);
    }
    Tensor ids = Tensor.of(new int[] {5, 0});
    try (Table table = builder.open(); ExecutorService other = Executors.newSingleThreadExecutor()) {
      assertArrayEquals(new long[] {5, 0}, Gather.gather(table, ids).toLongArray());
      Future<Tensor> call = other.submit(() -> Gather.gather(table, ids));
      Exception error = assertThrows(Exception.class, call::get);
      assertTrue(error.getCause() instanceof WrongThreadException, error::toString);
      arenas[0].close();
      assertThrows(IllegalStateException.class, () -> Gather.gather(table, ids));
    }
    Table.Builder many = Table.of(DType.INT64, 4, 1);
    IntStream.range(0, 4).forEach(i -> many.segment(Arena.ofAuto().allocate(8), 0, 1, 0));
    assertThrows(IllegalArgumentException.class, many::open);
  }

  @Test
  void threadsShareATable() throws Exception {
    for (UnaryOperator<Table.Builder> mode : MODES) {
      try (Table table = mode.apply(pieces()).open(); ExecutorService threads = Executors.newFixedThreadPool(8)) {
        Callable<Void> call =
            () -> {
              for (int i = 0; i < 100; i++) {
                int[] picked = {i % ROWS, 6 - i % ROWS, 3};
                table.prefetch(Tensor.of(picked));
                assertArrayEquals(rows(picked), Gather.gather(table, Tensor.of(picked)).toFloatArray());
              }
              return null;
            };
        for (Future<Void> each : threads.invokeAll(Collections.nCopies(8, call))) {
          each.get();
        }
      }
    }
  }
}
