package io.libgather;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Many calls use no more memory than few, and many threads share a plan. */
class MemoryTest {
  private static final int CALLS = 100_000;
  private static final long ALLOWED_HEAP = 1L << 20;
  private static final long ALLOWED = 24L << 20;

  private final Tensor table = Tensor.of(new float[] {0, 1, 10, 11, 20, 21, 30, 31}, 4, 2);
  private final Tensor ids = Tensor.of(new long[] {3, 0});
  private final Tensor rows = Tensor.of(new float[4], 2, 2);

  private static long residentBytes() throws IOException {
    return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]) * 4096;
  }

  private static long heapBytes() throws InterruptedException {
    System.gc();
    Thread.sleep(30);
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  private static void assertFlat(String name, Runnable call) throws Exception {
    assertFlat(name, CALLS / 5, call);
  }

  /** Compares the memory after some calls with the memory after many more calls. */
  private static void assertFlat(String name, int first, Runnable call) throws Exception {
    for (int i = 0; i < first; i++) {
      call.run();
    }
    long heap = heapBytes();
    long resident = residentBytes();
    for (int i = 0; i < CALLS; i++) {
      call.run();
    }
    long more = heapBytes() - heap;
    for (int i = 0; i < 100 && more > ALLOWED_HEAP; i++) { // Cleaners run on a thread of their own.
      more = heapBytes() - heap;
    }
    long moreResident = residentBytes() - resident;
    System.out.printf("memory: %s: %d KiB heap, %d KiB resident%n", name, more >> 10, moreResident >> 10);
    assertTrue(more < ALLOWED_HEAP, name + ": " + more + " more bytes on the heap");
    assertTrue(moreResident < ALLOWED, name + ": " + moreResident + " more resident bytes");
  }

  @Test
  void callsAreFlat() throws Exception {
    Arena arena = Arena.ofAuto();
    Tensor nativeTable = table.over(Heap.copied(arena, table.segment()));
    Tensor nativeIds = ids.over(Heap.copied(arena, ids.segment()));
    Tensor nativeRows = rows.over(Heap.copied(arena, rows.segment()));
    Plan plan = Plan.gather(table, ids, Options.DEFAULT);
    Options add = Options.builder().reduction(Reduction.ADD).build();
    Tensor bad = Tensor.of(new long[] {0, 4});
    assertFlat("plan run", () -> plan.run(table.segment(), ids.segment(), rows.segment()));
    assertFlat("plan run, native", () -> plan.run(nativeTable.segment(), nativeIds.segment(), nativeRows.segment()));
    assertFlat("plan check", () -> plan.check(Plan.OPEN, ids.segment()));
    assertFlat("gatherInto", () -> Gather.gatherInto(rows, table, ids, Options.DEFAULT));
    assertFlat("gatherInto, native", () -> Gather.gatherInto(nativeRows, nativeTable, nativeIds, Options.DEFAULT));
    assertFlat("scatterInto", () -> Gather.scatterInto(table, ids, rows, add));
    assertFlat("gradient", () -> Gather.gatherGradientInto(table, rows, ids, Options.DEFAULT));
    assertFlat("error", () -> assertThrows(GatherIndexException.class, () -> Gather.gather(table, bad)));
    assertFlat("partition", () -> Partition.of(ids, Shards.blocks(4, 2), Options.DEFAULT));
    assertFlat("gather", () -> Gather.gather(table, ids));
    assertFlat("gather, arena", this::gatherInArena);
    assertFlat("scatter", () -> Gather.scatter(table, ids, rows, add));
    assertFlat("plan", this::planInArena);
    Arena closed = Arena.ofConfined();
    closed.close();
    assertFlat(
        "plan, closed arena",
        () ->
            assertThrows(
                IllegalStateException.class,
                () -> Plan.create(closed, Operation.GATHER, table, ids, null, Options.DEFAULT)));
    // The collector releases these plans when the heap is full. So their memory grows until then.
    assertFlat("plan of the collector", 4 * CALLS, () -> Plan.gather(table, ids, Options.DEFAULT));
    assertFlat("strings", this::strings);
    assertFlat("context", this::context);
  }

  private void gatherInArena() {
    try (Arena arena = Arena.ofConfined()) {
      Gather.make(arena, Operation.GATHER, table, ids, Options.DEFAULT);
    }
  }

  private void planInArena() {
    try (Arena arena = Arena.ofConfined()) {
      Plan.create(arena, Operation.GATHER, table, ids, null, Options.DEFAULT);
    }
  }

  private void strings() {
    try (Arena arena = Arena.ofConfined()) {
      Strings words = Strings.of(arena, List.of(new byte[1], new byte[2]), 2);
      words.make(Operation.GATHER, Tensor.of(new int[1]), Options.DEFAULT);
    }
  }

  private void context() {
    try (Arena arena = Arena.ofConfined()) {
      Context.create(arena, 1);
    }
  }

  @Test
  void virtualThreadsShareAPlan() throws Exception {
    Plan fixed = Plan.gather(table, ids, Options.DEFAULT);
    Plan open = Plan.gather(Tensor.shaped(DType.FLOAT32, 4, 2), Tensor.shaped(DType.INT64, Plan.OPEN), Options.DEFAULT);
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> tasks =
          IntStream.range(0, 64).mapToObj(i -> executor.submit(() -> runMany(fixed, open, i))).toList();
      for (Future<Integer> task : tasks) {
        assertEquals(2000, task.get());
      }
    }
  }

  /** Runs two plans with ids and errors of one thread, and returns the number of runs. */
  @SuppressWarnings("ThreadPriorityCheck") // Yielding lets the virtual threads take turns.
  private int runMany(Plan fixed, Plan open, int number) {
    float[] found = new float[4];
    long[] wanted = {number % 4, (number + 1) % 4};
    MemorySegment memory = MemorySegment.ofArray(found);
    float[] expected = new float[4];
    for (int i = 0; i < 4; i++) {
      expected[i] = 10 * wanted[i / 2] + i % 2;
    }
    for (int i = 0; i < 1000; i++) {
      fixed.run(table.segment(), MemorySegment.ofArray(wanted), memory);
      assertArrayEquals(expected, found);
      open.run(1 + i % 2, table.segment(), MemorySegment.ofArray(wanted), memory);
      assertArrayEquals(expected, found);
      long invalid = 4L + number;
      MemorySegment bad = MemorySegment.ofArray(new long[] {0, invalid});
      var e = assertThrows(GatherIndexException.class, () -> fixed.run(table.segment(), bad, memory));
      assertEquals(invalid, e.value());
      Thread.yield();
    }
    return 2000;
  }
}
