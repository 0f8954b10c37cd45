package io.libgather;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/** Large random calls of two threads with arrays leave the memory that the same calls leave as native memory. */
class HeapRandomTest {
  private static final int CASES = 60;

  @Test
  void callsOfTwoThreadsWithArraysEqualCallsWithNativeMemory() throws Exception {
    int failures = 0;
    int[] runs = new int[Operation.GATHER_BAGS.ordinal() + 1];
    for (int seed = 0; seed < CASES; seed++) {
      try (Arena arena = Arena.ofShared()) {
        HeapCase test = new HeapCase(seed, arena);
        runs[test.operation == null ? runs.length - 1 : test.operation.ordinal()]++;
        try {
          failures += compare(test, arena);
        } catch (RuntimeException | AssertionError e) {
          throw new AssertionError("seed " + seed + ", " + test, e);
        }
      }
    }
    System.out.printf("heap: %d cases, %d errors, operations %s%n", CASES, failures, Arrays.toString(runs));
    assertTrue(failures > CASES / 20 && Arrays.stream(runs).allMatch(count -> count > CASES / 30));
  }

  /** Returns the number of calls that fail. */
  private static int compare(HeapCase test, Arena arena) throws Exception {
    IdentityHashMap<MemorySegment, MemorySegment> copies = new IdentityHashMap<>();
    ErrorDetails[] expected = new ErrorDetails[2];
    for (Tensor[] operands : test.operands) {
      for (Tensor tensor : operands) {
        copies.computeIfAbsent(tensor.segment, key -> arena.allocate(key.byteSize(), 64).copyFrom(key));
      }
    }
    for (int thread = 0; thread < 2; thread++) {
      Tensor[] operands = test.operands[thread].clone();
      Arrays.setAll(operands, i -> operands[i].over(copies.get(operands[i].segment)));
      expected[thread] = run(test, operands);
    }
    ErrorDetails[] found = runTogether(test);
    for (int thread = 0; thread < 2; thread++) {
      assertEquals(expected[thread], found[thread]);
    }
    copies.forEach((memory, copy) -> assertEquals(-1, copy.mismatch(memory), "the first byte that differs"));
    return expected[0] == null ? 0 : 1;
  }

  private static ErrorDetails[] runTogether(HeapCase test) throws Exception {
    CyclicBarrier start = new CyclicBarrier(2);
    FutureTask<ErrorDetails> other =
        new FutureTask<>(
            () -> {
              start.await();
              return run(test, test.operands[1]);
            });
    Thread.ofPlatform().start(other);
    start.await();
    return new ErrorDetails[] {run(test, test.operands[0]), other.get()};
  }

  /** Returns the error of a call, or null. */
  private static ErrorDetails run(HeapCase test, Tensor[] operands) {
    Tensor table = operands[0];
    Tensor indices = operands[1];
    Tensor rows = operands[2];
    try (Arena arena = Arena.ofConfined()) {
      if (test.operation == null) {
        Gather.copy(table, rows);
      } else if (test.planned) {
        Plan plan = Plan.create(arena, test.operation, table, indices, rows, test.options);
        plan.run(table.segment, indices.segment, rows.segment);
      } else {
        ConformanceTest.run(test.operation, table, indices, rows, test.options);
      }
      return null;
    } catch (GatherIndexException e) {
      return e.details();
    }
  }
}
