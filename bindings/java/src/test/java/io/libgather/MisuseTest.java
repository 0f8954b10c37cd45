package io.libgather;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.libgather.internal.Gth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/** Wrong calls throw an exception that names the cause, and change no memory. */
class MisuseTest {
  private static final float[] TABLE = {0, 1, 10, 11, 20, 21, 30, 31};

  private static Tensor table() {
    return Tensor.of(TABLE.clone(), 4, 2);
  }

  private static Tensor ids(long... ids) {
    return Tensor.of(ids);
  }

  private static Tensor inArena(Arena arena, DType dtype, long... shape) {
    Tensor shaped = Tensor.shaped(dtype, shape);
    return Tensor.of(arena.allocate(shaped.size() * dtype.size(), 8), dtype, shape);
  }

  @Test
  void numbersOfALaterLibraryAreNoNames() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment error = arena.allocate(Gth.Error.BYTES, 8);
      for (int operand : new int[] {-1, OperandName.values().length, Integer.MAX_VALUE}) {
        error.set(ValueLayout.JAVA_INT, Gth.Error.OPERAND, operand);
        for (int status : new int[] {1, -1 - Status.values().length, Integer.MIN_VALUE}) {
          ErrorDetails read = ErrorDetails.read(status, error);
          assertEquals(Status.INTERNAL, read.status());
          assertEquals(OperandName.NONE, read.operand());
        }
      }
      error.set(ValueLayout.JAVA_INT, Gth.Error.OPERAND, OperandName.ZEROS.number());
      ErrorDetails last = ErrorDetails.read(-25, error);
      assertEquals(Status.IO, last.status());
      assertEquals(OperandName.ZEROS, last.operand());
    }
  }

  @Test
  void indexOutOfBoundsNamesThePosition() {
    var e = assertThrows(GatherIndexException.class, () -> Gather.gather(table(), ids(0, 4)));
    assertEquals(OperandName.INDICES, e.operand());
    assertEquals(0, e.component());
    assertEquals(1, e.position());
    assertEquals(4, e.value());
    assertEquals(4, e.limit());
    assertInstanceOf(IndexOutOfBoundsException.class, e);
  }

  @Test
  void unsignedIndexAboveTheSignedNumbersHasItsBits() {
    Tensor ids = Tensor.of(MemorySegment.ofArray(new long[] {0, -1}), DType.UINT64, 2);
    var e = assertThrows(GatherIndexException.class, () -> Gather.gather(table(), ids));
    var expected = new ErrorDetails(Status.INDEX, OperandName.INDICES, 0, 1, -1, 4, -1, false, true, 0);
    assertEquals(expected, e.details());
  }

  @Test
  void closedArenaIsAnIllegalState() {
    Arena arena = Arena.ofConfined();
    Tensor table = inArena(arena, DType.FLOAT32, 4, 2);
    Tensor indices = inArena(arena, DType.INT64, 1);
    Tensor out = inArena(arena, DType.FLOAT32, 1, 2);
    Plan plan = Plan.create(arena, Operation.GATHER, table, indices, null, Options.DEFAULT);
    Strings strings = Strings.of(arena, List.of(new byte[1]), 1);
    Context context = Context.create(arena, 1);
    arena.close();
    assertThrows(IllegalStateException.class, () -> Gather.gather(table, ids(0)));
    assertThrows(IllegalStateException.class, () -> Gather.gather(table(), indices));
    assertThrows(IllegalStateException.class, () -> Gather.gatherInto(out, table(), ids(0), Options.DEFAULT));
    assertThrows(IllegalStateException.class, () -> plan.run(table.segment, indices.segment, out.segment));
    assertThrows(IllegalStateException.class, () -> plan.extents(Plan.OPEN + 1));
    assertThrows(IllegalStateException.class, () -> plan.check(Plan.OPEN, ids(0).segment));
    assertThrows(IllegalStateException.class, () -> strings.make(Operation.GATHER, ids(0), Options.DEFAULT));
    assertThrows(IllegalStateException.class, strings::toBytes);
    Options options = Options.builder().context(context).build();
    assertThrows(IllegalStateException.class, () -> Gather.gather(table(), ids(0), options));
    assertThrows(IllegalStateException.class, () -> Context.create(arena, 1));
    assertThrows(IllegalStateException.class, () -> Partition.of(indices, Shards.blocks(4, 2), Options.DEFAULT));
  }

  @Test
  void confinedArenaOfAnotherThreadIsAWrongThread() throws Exception {
    try (Arena arena = Arena.ofConfined()) {
      Tensor table = inArena(arena, DType.FLOAT32, 4, 2);
      Tensor indices = inArena(arena, DType.INT64, 1);
      Tensor out = inArena(arena, DType.FLOAT32, 1, 2);
      Plan plan = Plan.create(arena, Operation.GATHER, table, indices, null, Options.DEFAULT);
      var task =
          new FutureTask<>(
              () -> {
                assertThrows(WrongThreadException.class, () -> Gather.gatherInto(out, table, indices, Options.DEFAULT));
                assertThrows(WrongThreadException.class, () -> Gather.gather(table(), indices));
                assertThrows(
                    WrongThreadException.class, () -> plan.run(table.segment, indices.segment, out.segment));
                return null;
              });
      Thread.ofPlatform().start(task);
      task.get();
    }
  }

  /** While a call uses an arena, closing it fails. The call reads 1 GB in total, so a close falls into it. */
  @Test
  void arenaCannotBeClosedDuringACall() throws Exception {
    for (int round = 0; round < 20; round++) {
      Arena arena = Arena.ofShared();
      Tensor table = inArena(arena, DType.FLOAT32, 1024, 256);
      Tensor indices = inArena(arena, DType.INT64, 1 << 14);
      Tensor out = inArena(arena, DType.FLOAT32, 1 << 14, 256);
      var started = new CountDownLatch(1);
      var task =
          new FutureTask<>(
              () -> {
                started.countDown();
                for (int i = 0; i < 1000; i++) {
                  Gather.gatherInto(out, table, indices, Options.DEFAULT);
                }
                return null;
              });
      Thread.ofPlatform().start(task);
      started.await();
      while (arena.scope().isAlive()) {
        try {
          arena.close();
        } catch (IllegalStateException e) { // A call uses the arena.
          Thread.onSpinWait();
        }
      }
      try {
        task.get();
      } catch (java.util.concurrent.ExecutionException e) {
        assertInstanceOf(IllegalStateException.class, e.getCause());
      }
    }
  }

  @Test
  void readOnlyTableOfManyRowsIsGathered() {
    float[] array = new float[4 * 5000];
    array[2] = 3;
    Tensor sealed = Tensor.of(array, 2 * 5000, 2).asReadOnly();
    long[] ids = new long[5000];
    ids[4999] = 1;
    float[] out = new float[2 * 5000];
    Gather.gatherInto(Tensor.of(out, 5000, 2), sealed, Tensor.of(ids), Options.DEFAULT);
    assertEquals(3, out[2 * 4999]);
  }

  @Test
  void readOnlyOutputIsRefused() {
    float[] array = new float[2];
    Tensor out = Tensor.of(array, 1, 2).asReadOnly();
    expect(Status.READONLY, OperandName.OUT, () -> Gather.gatherInto(out, table(), ids(1), Options.DEFAULT));
    Tensor buffer = Tensor.of(FloatBuffer.wrap(array).asReadOnlyBuffer(), 1, 2);
    expect(Status.READONLY, OperandName.OUT, () -> Gather.gatherInto(buffer, table(), ids(1), Options.DEFAULT));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment segment = arena.allocate(8).asReadOnly();
      Tensor indices = inArena(arena, DType.INT64, 1);
      Tensor source = inArena(arena, DType.FLOAT32, 4, 2);
      Tensor sealed = Tensor.of(segment, DType.FLOAT32, 1, 2);
      expect(Status.READONLY, OperandName.OUT, () -> Gather.gatherInto(sealed, source, indices, Options.DEFAULT));
      Plan plan = Plan.gather(source, indices, Options.DEFAULT);
      expect(Status.READONLY, OperandName.OUT, () -> plan.run(source.segment, indices.segment, segment));
    }
    assertArrayEquals(new float[2], array);
  }

  private static void expect(Status status, OperandName operand, Runnable call) {
    var e = assertThrows(GatherArgumentException.class, call::run);
    assertEquals(status, e.status(), e.getMessage());
    assertEquals(operand, e.details().operand(), e.getMessage());
  }

  @Test
  void smallMemoryIsRefused() {
    expect(Status.STRIDE, OperandName.PARAMS, () -> Gather.gather(Tensor.of(TABLE, 5, 2), ids(0)));
    expect(
        Status.STRIDE,
        OperandName.OUT,
        () -> Gather.gatherInto(Tensor.of(new float[1], 1, 2), table(), ids(0), Options.DEFAULT));
    Plan plan = Plan.gather(Tensor.shaped(DType.FLOAT32, 4, 2), Tensor.shaped(DType.INT64, Plan.OPEN), Options.DEFAULT);
    MemorySegment table = MemorySegment.ofArray(TABLE);
    MemorySegment ids = MemorySegment.ofArray(new long[3]);
    MemorySegment rows = MemorySegment.ofArray(new float[6]);
    plan.run(3, table, ids, rows);
    expect(Status.SIZE, OperandName.PARAMS, () -> plan.run(3, table.asSlice(4), ids, rows));
    expect(Status.SIZE, OperandName.INDICES, () -> plan.run(3, table, ids.asSlice(8), rows));
    expect(Status.SIZE, OperandName.OUT, () -> plan.run(3, table, ids, rows.asSlice(4)));
    expect(Status.SIZE, OperandName.PARAMS, () -> plan.run(3, table.asSlice(4), ids.asSlice(8), rows.asSlice(4)));
    expect(Status.SIZE, OperandName.INDICES, () -> plan.run(3, table, ids.asSlice(8), rows.asSlice(4)));
    expect(Status.SHAPE, OperandName.PLAN, () -> plan.run(-2, table, ids, rows));
    expect(Status.SHAPE, OperandName.PLAN, () -> plan.run(table, ids, rows));
  }

  @Test
  void wrongDtypesAndShapesAreRefused() {
    expect(Status.DTYPE, OperandName.INDICES, () -> Gather.gather(table(), Tensor.of(new float[1])));
    expect(
        Status.DTYPE,
        OperandName.OUT,
        () -> Gather.gatherInto(Tensor.of(new int[2], 1, 2), table(), ids(0), Options.DEFAULT));
    expect(
        Status.SHAPE,
        OperandName.OUT,
        () -> Gather.gatherInto(Tensor.of(new float[2], 2, 1), table(), ids(0), Options.DEFAULT));
    assertThrows(IllegalArgumentException.class, () -> Tensor.of(new float[1], new long[65]));
    assertThrows(IllegalArgumentException.class, () -> table().withStrides(0, 4));
    assertThrows(IllegalArgumentException.class, () -> Options.builder().fillBytes(DType.INT16, (byte) 1));
    assertThrows(IllegalArgumentException.class, () -> Tensor.of(ByteBuffer.allocate(2).asCharBuffer()));
    assertThrows(
        IllegalArgumentException.class,
        () -> Gather.make(Arena.ofAuto(), Operation.SCATTER, table(), ids(0), Options.DEFAULT));
    assertThrows(NullPointerException.class, () -> Gather.gather(null, ids(0)));
    assertThrows(NullPointerException.class, () -> Gather.gather(table(), ids(0), null));
    assertThrows(IllegalStateException.class, () -> table().toLongArray());
    assertThrows(IllegalStateException.class, () -> table().withStrides(8, 8, 4).toFloatArray());
  }

  @Test
  void overlapIsRefused() {
    float[] array = TABLE.clone();
    MemorySegment rows = MemorySegment.ofArray(array).asSlice(0, 8);
    Tensor out = Tensor.of(rows, DType.FLOAT32, 1, 2);
    expect(
        Status.ALIAS, OperandName.OUT, () -> Gather.gatherInto(out, Tensor.of(array, 4, 2), ids(3), Options.DEFAULT));
    assertArrayEquals(TABLE, array);
  }

  /** Large calls with arrays run on copies or in parts. */
  @Test
  void overlapOfArraysIsRefused() {
    int count = 10_000;
    float[] array = new float[2 * count];
    long[] ids = new long[count];
    MemorySegment whole = MemorySegment.ofArray(array);
    Tensor first = Tensor.of(whole.asSlice(0, 4L * count), DType.FLOAT32, count);
    Tensor second = Tensor.of(whole.asSlice(4L * count), DType.FLOAT32, count);
    Tensor middle = Tensor.of(whole.asSlice(8, 4L * count), DType.FLOAT32, count);
    Tensor reversed = middle.withStrides(4L * (count - 1), -4);
    Options options = Options.DEFAULT;
    array[0] = 7;
    for (Tensor overlapping : new Tensor[] {first, middle, reversed}) {
      expect(Status.ALIAS, OperandName.OUT, () -> Gather.gatherInto(overlapping, first, ids(ids), options));
      expect(Status.ALIAS, OperandName.TARGET, () -> Gather.scatterInto(first, ids(ids), overlapping, options));
      expect(Status.ALIAS, OperandName.TARGET, () -> Gather.gatherGradientInto(first, overlapping, ids(ids), options));
      expect(Status.ALIAS, OperandName.OUT, () -> Gather.copy(first, overlapping));
    }
    Tensor sameIds = Tensor.of(whole, DType.INT64, count);
    expect(Status.ALIAS, OperandName.OUT, () -> Gather.gatherInto(second, Tensor.of(TABLE), sameIds, options));
    Tensor updates = Tensor.of(new float[count]);
    expect(Status.ALIAS, OperandName.TARGET, () -> Gather.scatterInto(second, sameIds, updates, options));
    assertEquals(7, array[0]);
    assertEquals(0, array[count]);
    Gather.gatherInto(second, first, ids(ids), options);
    assertEquals(7, array[count]);
  }

  @Test
  void indicesWithoutMemoryAreRefused() {
    Strings words = Strings.of(List.of("zero", "one"));
    Tensor none = Tensor.shaped(DType.INT64, 2);
    expect(Status.NULL, OperandName.INDICES, () -> words.make(Operation.GATHER, none, Options.DEFAULT));
    expect(Status.NULL, OperandName.INDICES, () -> words.make(Operation.SCATTER, none, words, Options.DEFAULT));
    expect(Status.NULL, OperandName.INDICES, () -> Partition.of(none, Shards.blocks(4, 2), Options.DEFAULT));
  }

  @Test
  void fillValueOfAnotherDtypeIsRefused() {
    Options options = Options.builder().bounds(Bounds.FILL).fillValue(1).build();
    var e = assertThrows(GatherArgumentException.class, () -> Gather.gather(table(), ids(9), options));
    assertEquals("options: the fill value is int32, the dtype of params is float32", e.getMessage());
    var expected = new ErrorDetails(Status.DTYPE, OperandName.OPTIONS, 116, -1, 32, 544, -1, false, false, 0);
    assertEquals(expected, e.details());
  }

  @Test
  void gradientHasNoPlan() {
    assertThrows(
        GatherUnsupportedException.class,
        () -> Plan.create(Arena.ofAuto(), Operation.GATHER_GRADIENT, table(), ids(0), null, Options.DEFAULT));
  }

  /** The classes of a jar may have no names of parameters. */
  @Test
  void nullArgumentIsNamed() {
    Options options = Options.DEFAULT;
    Tensor rows = Tensor.of(new float[2], 1, 2);
    Plan plan = Plan.gather(table(), ids(0), options);
    Strings words = Strings.of(List.of("a"));
    expectNull("params", () -> Gather.gather(null, ids(0)));
    expectNull("indices", () -> Gather.gather(table(), null));
    expectNull("options", () -> Gather.gather(table(), ids(0), null));
    expectNull("out", () -> Gather.gatherInto(null, table(), ids(0)));
    expectNull("params", () -> Gather.gatherNdInto(rows, null, ids(0)));
    expectNull("target", () -> Gather.scatterInto(null, ids(0), rows));
    expectNull("updates", () -> Gather.scatterNdInto(table(), ids(0), null));
    expectNull("options", () -> Gather.scatterElementsInto(table(), ids(0), rows, null));
    expectNull("indices", () -> Gather.scatter(table(), null, rows));
    expectNull("gradient", () -> Gather.gatherGradient(null, ids(0), new long[] {4, 2}, options));
    expectNull("gradient", () -> Gather.gatherGradientInto(table(), null, ids(0), options));
    expectNull("shape", () -> Gather.gatherGradient(rows, ids(0), null, options));
    expectNull("params", () -> Gather.gatherBags(null, ids(0), ids(0), options));
    expectNull("options", () -> Gather.gatherBags(table(), ids(0), ids(0), null));
    expectNull("out", () -> Gather.gatherBagsInto(null, table(), ids(0), ids(0), null, options));
    expectNull("gradient", () -> Gather.gatherBagsGradient(null, table(), ids(0), ids(0), null, options));
    expectNull("target", () -> Gather.gatherBagsGradientInto(null, rows, table(), ids(0), ids(0), null, options));
    expectNull("operation", () -> Gather.make(Arena.ofAuto(), null, table(), ids(0), options));
    expectNull("arena", () -> Gather.make(null, Operation.GATHER, table(), ids(0), options));
    expectNull("source", () -> Gather.copy(null, rows));
    expectNull("destination", () -> Gather.copy(rows, null));
    expectNull("array", () -> Tensor.of((float[]) null));
    expectNull("shape", () -> Tensor.of(new float[1], (long[]) null));
    expectNull("segment", () -> Tensor.of(null, DType.INT8, 1));
    expectNull("dtype", () -> Tensor.shaped(null, 1));
    expectNull("indices", () -> Plan.gather(table(), null, options));
    expectNull("table", () -> plan.run(null, ids(0).segment(), rows.segment()));
    expectNull("rows", () -> plan.run(table().segment(), ids(0).segment(), null));
    expectNull("values", () -> Strings.of(null));
    expectNull("indices", () -> words.make(Operation.GATHER, null, options));
    expectNull("shards", () -> Partition.of(ids(0), null, options));
    expectNull("profile", () -> Options.builder().profile(null));
    expectNull("outDType", () -> Options.builder().outDType(null));
  }

  private static void expectNull(String parameter, Runnable call) {
    var e = assertThrows(NullPointerException.class, call::run, parameter);
    assertEquals(parameter + " is null", e.getMessage());
  }

  /** The texts are those of the library. */
  @Test
  void messagesNameTheOperand() {
    Tensor rows = Tensor.of(new float[4], 2, 2);
    Plan plan = Plan.gather(table(), ids(0, 1), Options.DEFAULT);
    MemorySegment table = table().segment();
    MemorySegment ids = ids(0, 1).segment();
    expectMessage("out: the memory is read-only", () -> plan.run(table, ids, rows.segment().asReadOnly()));
    expectMessage("out: memory of 4 bytes, needed are 16", () -> plan.run(table, ids, rows.segment().asSlice(12)));
    expectMessage("params: memory of 8 bytes, needed are 32", () -> plan.run(table.asSlice(24), ids, rows.segment()));
    expectMessage("out: shares memory with params", () -> Gather.copy(rows, rows));
    Partition parts = Partition.of(ids(7, 0), Shards.borders(0, 4, 10), Options.DEFAULT);
    assertEquals("Partition[counts=[1, 1], local=[0, 3], order=[1, 0], place=[1, 0]]", parts.toString());
  }

  private static void expectMessage(String message, Runnable call) {
    assertEquals(message, assertThrows(GatherArgumentException.class, call::run).getMessage());
  }

  @Test
  void noExtentsAreRankZero() {
    Tensor number = Tensor.of(new float[] {7}, new long[0]);
    assertArrayEquals(new long[0], number.shape());
    assertArrayEquals(new long[] {1}, Tensor.of(new float[] {7}).shape());
    assertArrayEquals(new long[0], Tensor.of(new long[] {2}, new long[0]).shape());
    assertArrayEquals(new long[0], Tensor.of(new boolean[] {true}, new long[0]).shape());
    assertArrayEquals(new long[0], Tensor.of(FloatBuffer.wrap(TABLE), new long[0]).shape());
    assertArrayEquals(new long[] {8}, Tensor.of(FloatBuffer.wrap(TABLE)).shape());
    assertArrayEquals(new long[0], Strings.of(List.of("a"), new long[0]).shape());
    assertArrayEquals(new long[] {1}, Strings.of(List.of("a")).shape());
    Tensor row = Gather.gather(table(), Tensor.of(new int[] {2}, new long[0]));
    assertArrayEquals(new long[] {2}, row.shape());
    assertArrayEquals(new float[] {20, 21}, row.toFloatArray());
    expect(Status.SIZE, OperandName.INDICES, () -> Gather.gather(table(), Tensor.of(new long[0], new long[0])));
  }

  @Test
  void buffersOfBothKindsAreTensors() {
    FloatBuffer direct = ByteBuffer.allocateDirect(32).order(ByteOrder.nativeOrder()).asFloatBuffer();
    direct.put(TABLE).rewind();
    FloatBuffer sliced = FloatBuffer.wrap(TABLE).slice(2, 6);
    assertArrayEquals(new float[] {10, 11}, Gather.gather(Tensor.of(direct, 4, 2), ids(1)).toFloatArray());
    assertArrayEquals(new float[] {20, 21}, Gather.gather(Tensor.of(sliced, 3, 2), ids(1)).toFloatArray());
  }

  /** `asFloatBuffer` of a new buffer has the byte order of the network. */
  @Test
  void bufferInTheOtherByteOrderIsRefused() {
    boolean isLittle = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
    ByteBuffer other = ByteBuffer.allocateDirect(32).order(isLittle ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    for (Buffer buffer :
        new Buffer[] {
          other.asShortBuffer(),
          other.asIntBuffer(),
          other.asLongBuffer(),
          other.asFloatBuffer(),
          other.asDoubleBuffer()
        }) {
      var e = assertThrows(IllegalArgumentException.class, () -> Tensor.of(buffer), buffer.toString());
      assertTrue(e.getMessage().contains("nativeOrder()"), e.getMessage());
    }
    other.put(1, (byte) 7);
    assertArrayEquals(new byte[] {7}, Gather.gather(Tensor.of(other), ids(1)).toByteArray());
  }

  @Test
  void runWithoutItsOpenExtentSaysThatItIsMissing() {
    Plan plan = Plan.gather(table(), Tensor.shaped(DType.INT64, Plan.OPEN), Options.DEFAULT);
    MemorySegment memory = MemorySegment.ofArray(new long[8]);
    var e = assertThrows(GatherArgumentException.class, () -> plan.run(memory, memory, memory));
    assertEquals("plan: n is missing (-1), needed is the open extent", e.getMessage());
  }

  /** The product of the extents has more than 64 bits. */
  @Test
  void shapeThatIsTooLargeIsRefused() {
    Tensor large = Tensor.of(new float[1], 1L << 32, 1L << 32).withStrides(0, 0, 0);
    expect(Status.SIZE, OperandName.PARAMS, () -> Gather.scatter(large, ids(0), large, Options.DEFAULT));
  }

  @Test
  void stridedTensorsAreCopied() {
    Tensor columns = Tensor.of(TABLE, 2, 4).withStrides(0, 4, 8); // The transposed table.
    Tensor dense = Tensor.of(new float[8], 2, 4);
    Gather.copy(columns, dense);
    assertArrayEquals(new float[] {0, 10, 20, 30, 1, 11, 21, 31}, dense.toFloatArray());
    Tensor other = Tensor.of(new float[8], 4, 2);
    expect(Status.SHAPE, OperandName.OUT, () -> Gather.copy(columns, other));
  }
}
