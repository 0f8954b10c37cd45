package io.libgather;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Large calls with arrays run in parts or on copies. Their results and errors are those of a call with native memory. */
class HeapTest {
  private static final int ROWS = 1000;
  private static final int WIDTH = 20;
  private static final int COUNT = 50_000;

  private final Random random = new Random(1);
  private final float[] table = new float[ROWS * WIDTH];
  private final long[] ids = random.longs(COUNT, 0, ROWS).toArray();

  HeapTest() {
    for (int i = 0; i < table.length; i++) {
      table[i] = i;
    }
  }

  private float[] expected() {
    float[] rows = new float[COUNT * WIDTH];
    for (int i = 0; i < COUNT; i++) {
      System.arraycopy(table, (int) ids[i] * WIDTH, rows, i * WIDTH, WIDTH);
    }
    return rows;
  }

  @Test
  void gatherInPartsEqualsALoop() {
    float[] rows = new float[COUNT * WIDTH];
    Gather.gatherInto(
        Tensor.of(rows, COUNT, WIDTH), Tensor.of(table, ROWS, WIDTH), Tensor.of(ids), Options.DEFAULT);
    assertArrayEquals(expected(), rows);
  }

  @Test
  void openPlanInPartsEqualsALoop() {
    float[] rows = new float[COUNT * WIDTH];
    Plan plan =
        Plan.gather(Tensor.shaped(DType.FLOAT32, ROWS, WIDTH), Tensor.shaped(DType.INT64, Plan.OPEN), Options.DEFAULT);
    plan.run(COUNT, MemorySegment.ofArray(table), MemorySegment.ofArray(ids), MemorySegment.ofArray(rows));
    assertArrayEquals(expected(), rows);
  }

  @Test
  void lastInvalidIdLeavesTheOutputUnchanged() {
    ids[COUNT - 1] = ROWS;
    float[] rows = new float[COUNT * WIDTH];
    Arrays.fill(rows, -1);
    var e =
        assertThrows(
            GatherIndexException.class,
            () ->
                Gather.gatherInto(
                    Tensor.of(rows, COUNT, WIDTH), Tensor.of(table, ROWS, WIDTH), Tensor.of(ids), Options.DEFAULT));
    assertEquals(COUNT - 1, e.position());
    assertEquals(ROWS, e.value());
    for (float value : rows) {
      assertEquals(-1, value);
    }
  }

  /** The position is that in all ids, not that in a part. */
  @Test
  void partialErrorHasThePositionOfTheCall() {
    ids[COUNT - 1] = ROWS;
    Options partial = Options.builder().bounds(Bounds.ERROR_PARTIAL).build();
    Tensor out = Tensor.of(new float[COUNT * WIDTH], COUNT, WIDTH);
    Tensor from = Tensor.of(table, ROWS, WIDTH);
    var e =
        assertThrows(GatherIndexException.class, () -> Gather.gatherInto(out, from, Tensor.of(ids), partial));
    assertEquals(COUNT - 1, e.position());
  }

  @Test
  void lastInvalidIdLeavesTheTargetUnchanged() {
    ids[COUNT - 1] = -1;
    float[] target = table.clone();
    float[] updates = new float[COUNT * WIDTH];
    var e =
        assertThrows(
            GatherIndexException.class,
            () ->
                Gather.scatterInto(
                    Tensor.of(target, ROWS, WIDTH), Tensor.of(ids), Tensor.of(updates, COUNT, WIDTH), Options.DEFAULT));
    assertEquals(COUNT - 1, e.position());
    assertArrayEquals(table, target);
  }

  /** Compares calls with arrays and with native memory: parts, one use, and copies. */
  @Test
  void arraysGiveTheResultsOfNativeMemory() {
    Options add = Options.builder().reduction(Reduction.ADD).build();
    Options axis = Options.builder().axis(1).build();
    Options skip = Options.builder().bounds(Bounds.SKIP).build();
    Options sums = Options.builder().reduction(Reduction.ADD).accumulate(Accumulate.FLOAT32).build();
    Tensor source = Tensor.of(table, ROWS, WIDTH);
    Tensor rows = Tensor.of(expected(), COUNT, WIDTH);
    Tensor wide = Tensor.of(table, WIDTH, ROWS);
    long[] bad = ids.clone();
    bad[7] = ROWS;
    bad[COUNT - 1] = -1;
    compare(Operation.SCATTER, source, Tensor.of(ids), rows, add);
    compare(Operation.SCATTER_ND, source, Tensor.of(ids, COUNT, 1), rows, add);
    compare(Operation.GATHER_ND, source, Tensor.of(ids, COUNT, 1), rows, Options.DEFAULT);
    compare(Operation.GATHER, source, Tensor.of(bad), rows, skip);
    compare(Operation.GATHER, wide, Tensor.of(ids), Tensor.of(new float[WIDTH * COUNT], WIDTH, COUNT), axis);
    compare(Operation.GATHER_GRADIENT, source, Tensor.of(ids), rows, Options.DEFAULT);
    short[] halves = new short[COUNT * WIDTH];
    Arrays.fill(halves, (short) 0x3c00); // 1 in float16.
    Tensor ones = Tensor.of(halves, COUNT, WIDTH).withDType(DType.FLOAT16);
    Tensor zeros = Tensor.of(new short[ROWS * WIDTH], ROWS, WIDTH).withDType(DType.FLOAT16);
    compare(Operation.SCATTER, zeros, Tensor.of(new long[COUNT]), ones, sums);
  }

  private static void compare(Operation operation, Tensor table, Tensor indices, Tensor rows, Options options) {
    Tensor written = Calls.writesRows(operation) ? rows : table;
    try (Arena arena = Arena.ofConfined()) {
      Tensor nativeTable = table.over(Heap.copied(arena, table.segment()));
      Tensor nativeRows = rows.over(Heap.copied(arena, rows.segment()));
      Calls.run(operation, nativeTable, indices.over(Heap.copied(arena, indices.segment())), nativeRows, options);
      Calls.run(operation, table, indices, rows, options);
      Tensor expected = Calls.writesRows(operation) ? nativeRows : nativeTable;
      assertEquals(-1, expected.segment().mismatch(written.segment()), operation.toString());
    }
  }

  /** Each of the tuples selects the whole table. */
  @Test
  void tuplesWithoutComponentsEqualNativeMemory() {
    Tensor tuples = Tensor.of(new long[0], 30, 0);
    Tensor rows = Tensor.of(new float[30 * ROWS * WIDTH], 30, ROWS, WIDTH);
    compare(Operation.GATHER_ND, Tensor.of(table, ROWS, WIDTH), tuples, rows, Options.DEFAULT);
    compare(Operation.SCATTER_ND, Tensor.of(table, ROWS, WIDTH), tuples, rows, Options.DEFAULT);
  }

  /**
   * A collection waits for a part, not for a call. If a call kept the array in critical use, a collection would wait for
   * most of it. On a busy machine a few may be slow for other reasons.
   */
  @Test
  void collectorWaitsForPartsOnly() throws Exception {
    int count = 8_000_000;
    int width = 16;
    Tensor out = Tensor.of(new float[count * width], 1, count, width);
    Tensor from = Tensor.of(new float[(1 << 16) * width], 1 << 16, width);
    Tensor indices = Tensor.of(random.longs(count, 0, 1 << 16).toArray(), 1, count);
    Options single = Options.builder().threads(1).build();
    for (int i = 0; i < 3; i++) {
      Gather.gatherInto(out, from, indices, single);
    }
    long[] calls = new long[9];
    Thread caller =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int i = 0; i < calls.length; i++) {
                    long start = System.nanoTime();
                    Gather.gatherInto(out, from, indices, single);
                    calls[i] = System.nanoTime() - start;
                  }
                });
    long[] collections = new long[100_000];
    int found = 0;
    while (caller.isAlive()) {
      long start = System.nanoTime();
      System.gc();
      collections[found++] = System.nanoTime() - start;
      Thread.sleep(1);
    }
    long[] sorted = Arrays.copyOf(collections, found);
    Arrays.sort(sorted);
    Arrays.sort(calls);
    long call = calls[calls.length / 2];
    long waits = Arrays.stream(sorted).filter(time -> time > call / 4).count();
    System.out.printf(
        "collector: median %d us, longest %d us, %d waits, beside calls of %d us%n",
        sorted[found / 2] / 1000, sorted[found - 1] / 1000, waits, call / 1000);
    assertTrue(waits < calls.length / 3, waits + " collections waited for a quarter of a call");
  }
}
