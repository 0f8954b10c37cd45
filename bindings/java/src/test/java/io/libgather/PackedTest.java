package io.libgather;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Gathers of packed rows equal the formulas of their formats, in every call that takes params. */
class PackedTest {
  private static final int ROWS = 6;
  private static final int WIDTH = 64;
  private static final int[] IDS = {5, 0, 3, 3};
  private static final float[] HALVES = {0.5f, -0.25f, 2, -0.0f};
  private static final float[] SCALES = {1, 0.5f, -2, 3, 0.25f, -0.0f, 7, 1.5f, 8, 0.125f, 2, -1};
  private static final byte[] ZEROS = {0, 1, -3, 7, -8, 2, 5, -1, 4, 0, 3, -2};

  /** The bytes of a table, and the numbers that the formula of its format gives. */
  private record Table(byte[] bytes, float[] numbers) {
    /** Returns these rows of numbers. */
    float[] rows(int... rows) {
      float[] found = new float[rows.length * WIDTH];
      for (int i = 0; i < rows.length; i++) {
        System.arraycopy(numbers, rows[i] * WIDTH, found, i * WIDTH, WIDTH);
      }
      return found;
    }
  }

  private static byte code(int i) {
    return (byte) (i * 37 + 11);
  }

  private static float half(int i) {
    return HALVES[i % 4];
  }

  private static void putHalf(ByteBuffer buffer, int i) {
    buffer.putShort(Float.floatToFloat16(half(i)));
  }

  private static ByteBuffer over(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns blocks of a float16 scale and 32 codes of int8. */
  private static Table q8() {
    byte[] bytes = new byte[ROWS * 68];
    ByteBuffer buffer = over(bytes);
    float[] numbers = new float[ROWS * WIDTH];
    for (int i = 0; i < numbers.length; i++) {
      if (i % 32 == 0) {
        putHalf(buffer, i / 32);
      }
      buffer.put(code(i));
      numbers[i] = half(i / 32) * code(i);
    }
    return new Table(bytes, numbers);
  }

  /** Returns rows of 4-bit codes, low bits first, and then a scale and a bias of float16. */
  private static Table rowwise4() {
    byte[] bytes = new byte[ROWS * 36];
    ByteBuffer buffer = over(bytes);
    float[] numbers = new float[ROWS * WIDTH];
    for (int row = 0; row < ROWS; row++) {
      for (int i = row * WIDTH; i < (row + 1) * WIDTH; i += 2) {
        buffer.put(code(i));
        numbers[i] = half(row) * (code(i) & 15) + half(row + 1);
        numbers[i + 1] = half(row) * (code(i) >> 4 & 15) + half(row + 1);
      }
      putHalf(buffer, row);
      putHalf(buffer, row + 1);
    }
    return new Table(bytes, numbers);
  }

  /** Returns 4-bit codes with a sign, with a scale and a zero point for each block of 32 numbers. */
  private static Table int4(byte[] zeros) {
    byte[] bytes = new byte[ROWS * 32];
    ByteBuffer buffer = over(bytes);
    float[] numbers = new float[ROWS * WIDTH];
    for (int i = 0; i < numbers.length; i += 2) {
      buffer.put(code(i));
      numbers[i] = ((code(i) << 28 >> 28) - zeros[i / 32]) * SCALES[i / 32];
      numbers[i + 1] = ((code(i) >> 4) - zeros[i / 32]) * SCALES[i / 32];
    }
    return new Table(bytes, numbers);
  }

  /** Returns numbers of float8_e4m3fn with one scale for all. */
  private static Table fp8(float scale) {
    byte[] bytes = new byte[ROWS * 64];
    ByteBuffer buffer = over(bytes);
    float[] numbers = new float[ROWS * WIDTH];
    for (int i = 0; i < numbers.length; i++) {
      int code = (code(i) & 127) == 127 ? 128 : code(i) & 255; // 127 and 255 are NaN.
      int exponent = code >> 3 & 15;
      float size = Math.scalb(exponent > 0 ? 8f + (code & 7) : code & 7, Math.max(exponent, 1) - 10);
      buffer.put((byte) code);
      numbers[i] = (code < 128 ? size : -size) * scale;
    }
    return new Table(bytes, numbers);
  }

  private static Packed.Builder builder(String format, byte[] bytes) {
    return Packed.of(format).data(bytes).shape(ROWS, WIDTH);
  }

  private static Packed packedQ8() {
    return builder("q8_0", q8().bytes).build();
  }

  private static Tensor ids(int... ids) {
    return Tensor.of(ids);
  }

  /** Checks that the packed rows decode to the numbers, also without a copy of native memory. */
  private static void assertDecodes(Table table, Packed.Builder builder) {
    try (Packed packed = builder.build()) {
      assertArrayEquals(table.rows(IDS), Gather.gather(packed, ids(IDS)).toFloatArray());
    }
    try (Arena arena = Arena.ofConfined();
        Packed packed = builder.data(direct(arena, table.bytes)).build()) {
      assertArrayEquals(table.rows(IDS), Gather.gather(packed, ids(IDS)).toFloatArray());
    }
  }

  private static MemorySegment direct(Arena arena, byte[] bytes) {
    return arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
  }

  @Test
  void formatsEqualTheirFormulas() {
    assertDecodes(q8(), builder("q8_0", q8().bytes));
    assertDecodes(rowwise4(), builder("rowwise4", rowwise4().bytes));
    Tensor one = Tensor.of(new float[] {0.75f}, 1, 1);
    assertDecodes(fp8(0.75f), builder("fp8_e4m3fn", fp8(0.75f).bytes).scales(one));
    Tensor quarter = Tensor.of(new float[] {0.25f}, 1, 1);
    assertDecodes(fp8(0.75f), builder("fp8_e4m3fn", fp8(0.75f).bytes).scales(quarter).factor(3));
  }

  @Test
  void zeroPointsHaveMemoryOrAreConstant() {
    Tensor scales = Tensor.of(SCALES, ROWS, 2);
    Function<byte[], Packed.Builder> blocks = zeros -> builder("int4", int4(zeros).bytes).block(32).scales(scales);
    assertDecodes(int4(ZEROS), blocks.apply(ZEROS).zeros(Tensor.of(ZEROS, ROWS, 2)));
    try (Arena arena = Arena.ofConfined()) { // The blocks of a row have a stride.
      Tensor spread = Tensor.of(arena.allocate(76), DType.FLOAT32, ROWS, 2).withStrides(4, 12, 8);
      Gather.copy(scales, spread);
      assertDecodes(int4(ZEROS), blocks.apply(ZEROS).scales(spread).zeros(Tensor.of(ZEROS, ROWS, 2)));
    }
    byte[] threes = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    assertDecodes(int4(threes), blocks.apply(threes).zero(3));
    byte[] both = {0x33, 0x33, 0x33, 0x33, 0x33, 0x33};
    assertDecodes(int4(threes), blocks.apply(threes).zerosOf4Bits(Tensor.of(both, ROWS, 1), true));
    byte[] twelves = {12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12};
    byte[] pairs = {-52, -52, -52, -52, -52, -52}; // 12 without a sign, and -4 with one
    Tensor nibbles = Tensor.of(pairs, ROWS, 1);
    assertDecodes(int4(twelves), blocks.apply(twelves).zerosOf4Bits(nibbles, false));
    byte[] negative = {-4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4};
    Packed.Builder signed = blocks.apply(negative).zerosOf4Bits(nibbles.withDType(DType.UINT8), true);
    assertDecodes(int4(negative), signed);
    Packed.Builder last = blocks.apply(negative).zerosOf4Bits(nibbles, false);
    assertDecodes(int4(negative), last.zeros(Tensor.of(negative, ROWS, 2)));
  }

  @Test
  void shapesAreCopied() {
    long[] extents = {ROWS, WIDTH};
    Packed.Builder builder = builder("q8_0", q8().bytes).shape(extents);
    extents[0] = 1;
    try (Packed packed = builder.build()) {
      packed.shape()[0] = 1;
      assertArrayEquals(new long[] {ROWS, WIDTH}, packed.shape());
    }
  }

  @Test
  void exampleOfTheDocumentation() {
    byte[] codes = {2, -4, 6, 8}; // 2 rows of 2 numbers
    Tensor scales = Tensor.of(new float[] {0.5f, 2}, 2, 1); // one scale for each row
    try (Packed table = Packed.of("int8").data(codes).shape(2, 2).scales(scales).build()) {
      float[] rows = Gather.gather(table, Tensor.of(new long[] {1, 0})).toFloatArray();
      assertArrayEquals(new float[] {12, 16, 1, -2}, rows);
      assertEquals("int8 FLOAT32[2, 2]", table.toString());
    }
  }

  @Test
  void rowsAreStridedAndHaveDims() {
    Table table = q8();
    Packed.Builder reversed = Packed.of("q8_0").data(table.bytes).shape(3, WIDTH).strides(5 * 68, -2 * 68);
    try (Packed packed = reversed.build()) {
      assertArrayEquals(table.rows(1, 5), Gather.gather(packed, ids(2, 0)).toFloatArray());
    }
    try (Packed packed = Packed.of("q8_0").data(table.bytes).shape(2, 3, WIDTH).strides(0, 3 * 68, 68).build()) {
      Tensor pairs = Tensor.of(new int[] {1, 2, 0, 1}, 2, 2);
      assertArrayEquals(table.rows(5, 1), Gather.gatherNd(packed, pairs).toFloatArray());
      Options batches = Options.builder().batchDims(1).build();
      Tensor rows = Tensor.of(new int[] {2, 0, 1, 1}, 2, 2);
      assertArrayEquals(table.rows(2, 0, 4, 4), Gather.gather(packed, rows, batches).toFloatArray());
    }
    try (Packed packed = Packed.of("q8_0").data(new byte[0]).shape(0, WIDTH).build()) {
      assertArrayEquals(new long[] {0, WIDTH}, Gather.gather(packed, ids()).shape());
    }
    assertEquals(68, Packed.of("q8_0").rowBytes(64));
    assertEquals(32, Packed.of("int4").block(32).rowBytes(64));
  }

  @Test
  void numbersAreRounded() {
    try (Packed packed = builder("q8_0", q8().bytes).dtype(DType.BFLOAT16).build()) {
      Tensor rows = Gather.gather(packed, ids(IDS));
      assertEquals(DType.BFLOAT16, packed.dtype());
      assertEquals(DType.BFLOAT16, rows.dtype());
      short[] bits = rows.toShortArray();
      float[] wanted = q8().rows(IDS);
      for (int i = 0; i < bits.length; i++) { // These numbers have at most 8 significant bits.
        assertEquals(wanted[i], Float.intBitsToFloat(bits[i] << 16));
      }
    }
  }

  /** Calls that write rows, with the same output each time. */
  private static void assertWrites(float[] wanted, Tensor out, Runnable... calls) {
    for (Runnable call : calls) {
      out.segment.fill((byte) -1);
      call.run();
      assertArrayEquals(wanted, out.toFloatArray());
    }
  }

  @Test
  void everyCallTakesPackedRows() {
    Options options = Options.DEFAULT;
    try (Arena arena = Arena.ofConfined();
        Packed packed = packedQ8()) {
      for (Arena memory : new Arena[] {null, arena}) { // arrays, and native memory
        Tensor array = Tensor.of(new float[4 * WIDTH], 4, WIDTH);
        Tensor ids = memory == null ? ids(IDS) : ids(IDS).copied(memory);
        Tensor out = memory == null ? array : array.copied(memory);
        Tensor tuples = Tensor.of(ids.segment, DType.INT32, 4, 1);
        float[] wanted = q8().rows(IDS);
        assertArrayEquals(wanted, Gather.gather(packed, ids).toFloatArray());
        assertArrayEquals(wanted, Gather.gatherNd(packed, tuples).toFloatArray());
        assertArrayEquals(wanted, Gather.make(arena, Operation.GATHER, packed, ids, options).toFloatArray());
        assertArrayEquals(new long[] {4, WIDTH}, Gather.outputShape(Operation.GATHER, packed, ids, options));
        Plan plan = Plan.gather(packed, ids, options);
        Plan open = Plan.gather(packed, Tensor.shaped(DType.INT32, Plan.OPEN), options);
        Plan nd = Plan.gatherNd(packed, tuples, options);
        MemorySegment indices = ids.segment;
        MemorySegment rows = out.segment;
        assertWrites(
            wanted,
            out,
            () -> Gather.gatherInto(out, packed, ids),
            () -> Gather.gatherNdInto(out, packed, tuples),
            () -> plan.run(MemorySegment.NULL, indices, rows),
            () -> open.run(4, MemorySegment.NULL, indices, rows),
            () -> nd.run(MemorySegment.NULL, indices, rows));
        assertEquals(new Plan.Extents(4, 0, 16, 4L * 4 * WIDTH), open.extents(4));
        open.check(4, indices);
      }
    }
  }

  @Test
  void bagsPoolPackedRows() {
    Table table = q8();
    float[] sums = new float[WIDTH];
    float[] weighted = new float[WIDTH];
    float[] weights = {1, -2, 0.5f, 3};
    for (int i = 0; i < WIDTH; i++) {
      for (int k = 0; k < IDS.length; k++) {
        sums[i] += table.numbers[IDS[k] * WIDTH + i];
        weighted[i] += weights[k] * table.numbers[IDS[k] * WIDTH + i];
      }
    }
    Tensor offsets = Tensor.of(new int[] {0, 4});
    Tensor row = Tensor.of(IDS, 1, 4);
    Tensor out = Tensor.of(new float[WIDTH], 1, WIDTH);
    try (Packed packed = packedQ8()) {
      assertArrayEquals(sums, Gather.gatherBags(packed, ids(IDS), offsets, Options.DEFAULT).toFloatArray());
      assertArrayEquals(sums, Gather.gatherBags(packed, row, null, Options.DEFAULT).toFloatArray());
      Tensor factors = Tensor.of(weights);
      Tensor pooled = Gather.gatherBags(packed, ids(IDS), offsets, factors, Options.DEFAULT);
      assertArrayEquals(weighted, pooled.toFloatArray());
      Plan dense = Plan.create(Arena.ofAuto(), Operation.GATHER_BAGS, packed, row, null, Options.DEFAULT);
      assertWrites(
          sums,
          out,
          () -> Gather.gatherBagsInto(out, packed, ids(IDS), offsets, null, Options.DEFAULT),
          () -> Gather.gatherBagsInto(out, packed, row, null, null, Options.DEFAULT),
          () -> dense.run(MemorySegment.NULL, row.segment, out.segment));
    }
  }

  private static void expect(Status status, OperandName operand, Runnable call) {
    var e = assertThrows(RuntimeException.class, call::run);
    assertTrue(e instanceof GatherFailure, () -> "" + e);
    ErrorDetails details = ((GatherFailure) e).details();
    assertEquals(List.of(status, operand), List.of(details.status(), details.operand()), e.getMessage());
  }

  @Test
  void invalidRowsAreRefused() {
    byte[] bytes = q8().bytes;
    Tensor scales = Tensor.of(SCALES, ROWS, 2);
    expect(Status.VERSION, OperandName.CODEC, () -> Packed.of("q9_0"));
    expect(Status.STRIDE, OperandName.TENSOR, builder("q8_0", new byte[407])::build);
    expect(Status.NULL, OperandName.TENSOR, builder("q8_0", new byte[0])::build);
    expect(Status.SHAPE, OperandName.CODEC, builder("q8_0", bytes).shape(ROWS, 63)::build);
    expect(Status.SHAPE, OperandName.CODEC, () -> Packed.of("q8_0").rowBytes(63));
    expect(Status.DTYPE, OperandName.TENSOR, builder("q8_0", bytes).dtype(DType.FLOAT64)::build);
    expect(Status.RANK, OperandName.TENSOR, builder("q8_0", bytes).shape()::build);
    expect(Status.STRIDE, OperandName.TENSOR, builder("q8_0", bytes).shape(1L << 40, WIDTH)::build);
    expect(Status.VERSION, OperandName.CODEC, builder("q4_k", bytes).block(16)::build);
    expect(Status.VERSION, OperandName.SCALES, builder("q8_0", bytes).scales(scales)::build);
    expect(Status.VERSION, OperandName.ZEROS, builder("rowwise4", bytes).zeros(scales)::build);
    expect(Status.NULL, OperandName.SCALES, builder("int4", bytes)::build);
    Packed.Builder int4 = builder("int4", bytes).block(32);
    expect(Status.SHAPE, OperandName.SCALES, int4.scales(Tensor.of(SCALES, 4, 3))::build);
    expect(Status.RANK, OperandName.SCALES, int4.scales(Tensor.of(SCALES))::build);
    expect(Status.STRIDE, OperandName.SCALES, int4.scales(Tensor.of(new float[11], ROWS, 2))::build);
    expect(Status.DTYPE, OperandName.SCALES, int4.scales(Tensor.of(new int[12], ROWS, 2))::build);
    expect(Status.STRIDE, OperandName.ZEROS, int4.scales(scales).zeros(Tensor.of(new byte[11], ROWS, 2))::build);
    assertThrows(IllegalArgumentException.class, builder("q8_0", bytes).strides(0, 68, 68)::build);
    assertThrows(IllegalArgumentException.class, builder("q8_0", bytes).shape(new long[65])::build);
    assertEquals("data is null", assertThrows(NullPointerException.class, Packed.of("q8_0")::build).getMessage());
    assertThrows(NullPointerException.class, () -> Packed.of(null));
  }

  @Test
  void invalidCallsAreRefused() {
    try (Packed packed = packedQ8()) {
      Options axis = Options.builder().axis(1).build();
      Tensor out = Tensor.of(new float[4 * WIDTH], 4, WIDTH);
      expect(Status.INDEX, OperandName.INDICES, () -> Gather.gather(packed, ids(0, 6)));
      expect(Status.AXIS, OperandName.OPTIONS, () -> Gather.gather(packed, ids(0), axis));
      expect(Status.SHAPE, OperandName.OUT, () -> Gather.gatherInto(out, packed, ids(0)));
      expect(Status.READONLY, OperandName.OUT, () -> Gather.gatherInto(out.asReadOnly(), packed, ids(IDS)));
      expect(Status.UNSUPPORTED, OperandName.PARAMS, () -> elements(packed, out));
      expect(Status.UNSUPPORTED, OperandName.TARGET, () -> scatter(packed));
      Plan plan = Plan.gather(packed, ids(IDS), Options.DEFAULT);
      MemorySegment memory = MemorySegment.ofArray(q8().bytes);
      MemorySegment indices = MemorySegment.ofArray(IDS);
      expect(Status.HANDLE, OperandName.PARAMS, () -> plan.run(memory, indices, out.segment));
      expect(Status.SIZE, OperandName.OUT, () -> plan.run(MemorySegment.NULL, indices, out.segment.asSlice(4)));
      MemorySegment outside = MemorySegment.ofArray(new int[] {0, 1, 2, -1});
      expect(Status.INDEX, OperandName.INDICES, () -> plan.run(MemorySegment.NULL, outside, out.segment));
      assertArrayEquals(new float[4 * WIDTH], out.toFloatArray());
      MemorySegment shared = MemorySegment.ofArray(new int[4 * WIDTH]);
      expect(Status.ALIAS, OperandName.OUT, () -> plan.run(MemorySegment.NULL, shared.asSlice(16, 16), shared));
    }
  }

  private static void elements(Packed packed, Tensor indices) {
    Gather.make(Arena.ofAuto(), Operation.GATHER_ELEMENTS, packed, indices.withDType(DType.INT32), Options.DEFAULT);
  }

  private static void scatter(Packed packed) {
    Plan.create(Arena.ofAuto(), Operation.SCATTER, packed, ids(IDS), null, Options.DEFAULT);
  }

  @Test
  void closedRowsAreAnIllegalState() {
    Packed packed = packedQ8();
    Plan plan = Plan.gather(packed, ids(IDS), Options.DEFAULT);
    Tensor out = Tensor.of(new float[4 * WIDTH], 4, WIDTH);
    packed.close();
    packed.close();
    assertThrows(IllegalStateException.class, () -> Gather.gather(packed, ids(IDS)));
    assertThrows(IllegalStateException.class, () -> Gather.gatherInto(out, packed, ids(IDS)));
    assertThrows(IllegalStateException.class, () -> Plan.gather(packed, ids(IDS), Options.DEFAULT));
    assertThrows(
        IllegalStateException.class, () -> Gather.outputShape(Operation.GATHER, packed, ids(IDS), Options.DEFAULT));
    MemorySegment indices = MemorySegment.ofArray(IDS);
    assertThrows(IllegalStateException.class, () -> plan.run(MemorySegment.NULL, indices, out.segment));
    assertArrayEquals(new long[] {ROWS, WIDTH}, packed.shape());
  }

  /** Builds packed rows whose rows, scales and zero points are in these arenas. */
  private static Packed inArenas(Arena rows, Arena scales, Arena zeros) {
    return Packed.of("int4")
        .data(direct(rows, int4(ZEROS).bytes))
        .shape(ROWS, WIDTH)
        .block(32)
        .scales(Tensor.of(SCALES, ROWS, 2).copied(scales))
        .zeros(Tensor.of(ZEROS, ROWS, 2).copied(zeros))
        .build();
  }

  @Test
  void closedArenasOfRowsAreAnIllegalState() {
    for (int closed = 0; closed < 3; closed++) {
      Arena[] arenas = {Arena.ofConfined(), Arena.ofConfined(), Arena.ofConfined()};
      try (Packed packed = inArenas(arenas[0], arenas[1], arenas[2])) {
        assertArrayEquals(int4(ZEROS).rows(IDS), Gather.gather(packed, ids(IDS)).toFloatArray());
        Plan plan = Plan.gather(packed, ids(IDS), Options.DEFAULT);
        arenas[closed].close();
        assertThrows(IllegalStateException.class, () -> Gather.gather(packed, ids(IDS)));
        MemorySegment out = MemorySegment.ofArray(new float[4 * WIDTH]);
        assertThrows(
            IllegalStateException.class, () -> plan.run(MemorySegment.NULL, MemorySegment.ofArray(IDS), out));
      }
      IntStream.range(0, 3).mapToObj(i -> arenas[i]).filter(each -> each.scope().isAlive()).forEach(Arena::close);
    }
  }

  @Test
  void confinedArenaOfAnotherThreadIsAWrongThread() throws Exception {
    AtomicReference<Throwable> found = new AtomicReference<>();
    try (Arena arena = Arena.ofConfined();
        Packed packed = inArenas(Arena.ofAuto(), Arena.ofAuto(), arena)) {
      Thread other = new Thread(() -> Gather.gather(packed, ids(IDS)));
      other.setUncaughtExceptionHandler((thread, e) -> found.set(e));
      other.start();
      other.join();
    }
    assertTrue(found.get() instanceof WrongThreadException, () -> "" + found.get());
  }

  /** Closes rows while another thread gathers them. Each gather has all rows, or throws. */
  @Test
  void rowsCannotBeClosedDuringACall() throws Exception {
    for (int round = 0; round < 20; round++) {
      boolean closesArena = round % 2 == 0;
      Arena arena = Arena.ofShared();
      Packed packed = inArenas(arena, arena, arena);
      CountDownLatch began = new CountDownLatch(1);
      AtomicReference<Throwable> found = new AtomicReference<>();
      Thread other = new Thread(() -> gatherUntilClosed(packed, began));
      other.setUncaughtExceptionHandler((thread, e) -> found.set(e));
      other.start();
      began.await();
      closeInTheEnd(closesArena ? arena::close : packed::close);
      other.join();
      assertTrue(found.get() instanceof IllegalStateException, () -> "" + found.get());
      closeInTheEnd(closesArena ? packed::close : arena::close);
    }
  }

  private static void gatherUntilClosed(Packed packed, CountDownLatch began) {
    float[] wanted = int4(ZEROS).rows(IDS);
    while (true) {
      assertArrayEquals(wanted, Gather.gather(packed, ids(IDS)).toFloatArray());
      began.countDown();
    }
  }

  /** Closes, again and again as long as a call uses the memory. */
  private static void closeInTheEnd(Runnable close) {
    while (true) {
      try {
        close.run();
        return;
      } catch (IllegalStateException e) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void zeroReplacesTheBiasesOfRows() {
    byte[] row = {3, 5, 0, 0, 0, 64, 0, 0, -128, 63}; // 2 codes, the float32 scale 2 and the bias 1
    Tensor scales = Tensor.of(new float[] {2}, 1, 1);
    Tensor biases = Tensor.of(new float[] {1}, 1, 1);
    Supplier<Packed.Builder> rowwise = () -> Packed.of("rowwise8").data(row).shape(1, 2);
    Supplier<Packed.Builder> affine = () -> Packed.of("affine8").data(row).shape(1, 2).block(0).scales(scales);
    assertRow(rowwise.get(), 7, 11);
    assertRow(rowwise.get().zero(10), 16, 20);
    assertRow(affine.get().zero(10), 16, 20);
    assertRow(affine.get().zeros(biases).zero(10), 16, 20);
    assertRow(affine.get().zero(10).zeros(biases), 7, 11);
    Packed.Builder q4 = Packed.of("q4_k").data(new byte[144]).shape(1, 256).zero(1);
    expect(Status.VERSION, OperandName.CODEC, q4::build);
  }

  private static void assertRow(Packed.Builder builder, float... wanted) {
    try (Packed packed = builder.build()) {
      assertArrayEquals(wanted, Gather.gather(packed, ids(0)).toFloatArray());
    }
  }

  @Test
  void copiesOutliveTheirSources() {
    byte[] bytes = q8().bytes;
    try (Packed packed = builder("q8_0", bytes).build()) {
      Arrays.fill(bytes, (byte) 0);
      System.gc();
      assertArrayEquals(q8().rows(IDS), Gather.gather(packed, ids(IDS)).toFloatArray());
    }
  }
}
