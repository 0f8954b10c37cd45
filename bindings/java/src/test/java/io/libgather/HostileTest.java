package io.libgather;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/** Random valid calls to which one mistake is added throw the exception of the mistake and change no memory. */
class HostileTest {
  private static final int CALLS = 20_000;
  private static final int TABLE = 0;
  private static final int INDICES = 1;
  private static final int ROWS = 2;

  private enum Mistake {
    CLOSED_ARENA,
    OTHER_THREAD,
    NULL_OPERAND,
    NULL_OPTIONS,
    INDEX_DTYPE,
    ROWS_DTYPE,
    STRING_DTYPE,
    ROWS_EXTENT,
    ROWS_RANK,
    AXIS,
    BATCH_DIMS,
    COMPONENTS,
    NEGATIVE_EXTENT,
    LARGE_EXTENT,
    SMALL_MEMORY,
    NO_MEMORY,
    SMALL_MEMORY_OF_RUN,
    EXTENT_OF_RUN,
    READ_ONLY,
    OVERLAP,
    FILL_DTYPE,
    THREADS,
    INDEX
  }

  /** The exception of a mistake. Only failures of the library have a status and an operand. */
  private record Expected(Class<? extends RuntimeException> type, Status status, OperandName operand) {
    Expected(Status status, OperandName operand) {
      this(GatherArgumentException.class, status, operand);
    }
  }

  /** A call, of which one part is changed to a mistake. */
  private static final class Call {
    final RandomCase valid;
    final Random random;
    final Tensor[] operands;
    final boolean planned;
    Options.Builder options;
    MemorySegment[] memory = new MemorySegment[3];
    long n = Plan.OPEN;

    Call(long seed, Arena arena) {
      valid = validCase(seed);
      random = valid.random;
      operands = valid.operands(arena, random.nextBoolean());
      planned = !Calls.isGradient(valid.operation) && random.nextBoolean();
      options = valid.options();
    }

    private static RandomCase validCase(long seed) {
      RandomCase found;
      do {
        found = RandomCase.of(seed);
        seed += CALLS;
      } while (found.failure != null);
      return found;
    }

    OperandName name(int operand) {
      boolean gathers = Calls.writesRows(valid.operation);
      return operand == INDICES
          ? OperandName.INDICES
          : operand == TABLE
              ? gathers ? OperandName.PARAMS : OperandName.TARGET
              : gathers ? OperandName.OUT : OperandName.UPDATES;
    }

    int written() {
      return Calls.writesRows(valid.operation) ? ROWS : TABLE;
    }

    boolean isNd() {
      return valid.operation.name().contains("ND");
    }

    /** Returns true if the call reads or writes an element. */
    boolean reads() {
      return operands[ROWS].size() > 0;
    }

    boolean hasMemory(int operand) {
      return operands[operand].segment.byteSize() > 0;
    }

    /** Replaces an operand by a dense one of the same memory. */
    void reshape(int operand, long... shape) {
      operands[operand] = Tensor.of(operands[operand].segment, operands[operand].dtype, shape);
    }

    void over(int operand, MemorySegment segment) {
      operands[operand] = operands[operand].over(segment);
    }

    void run(Arena arena) {
      Options built = options == null ? null : options.build();
      if (!planned) {
        ConformanceTest.run(valid.operation, operands[TABLE], operands[INDICES], operands[ROWS], built);
        return;
      }
      Plan plan =
          Plan.create(arena, valid.operation, operands[TABLE], operands[INDICES], operands[ROWS], built);
      plan.run(n, of(TABLE), of(INDICES), of(ROWS));
    }

    private MemorySegment of(int operand) {
      return memory[operand] == null ? operands[operand].segment : memory[operand];
    }
  }

  /** Makes a mistake, and returns its exception, or null if the call cannot make it. */
  private static Expected make(Mistake mistake, Call call, MemorySegment foreign) {
    int operand = call.random.nextInt(3);
    Tensor tensor = call.operands[operand];
    long bytes = tensor.segment.byteSize();
    long[] shape = tensor.shape.clone();
    int rank = call.valid.shape.length;
    switch (mistake) {
      case CLOSED_ARENA -> {
        try (Arena arena = Arena.ofConfined()) {
          call.over(operand, arena.allocate(Math.max(bytes, 1)));
        }
        return new Expected(IllegalStateException.class, null, null);
      }
      case OTHER_THREAD -> {
        if (bytes > foreign.byteSize()) {
          return null;
        }
        call.over(operand, foreign.asSlice(0, Math.max(bytes, 1)));
        return new Expected(WrongThreadException.class, null, null);
      }
      case NULL_OPERAND -> {
        call.operands[operand] = null;
        return call.planned && operand == ROWS ? null : new Expected(NullPointerException.class, null, null);
      }
      case NULL_OPTIONS -> {
        call.options = null;
        return new Expected(NullPointerException.class, null, null);
      }
      case INDEX_DTYPE -> {
        call.operands[INDICES] = call.operands[INDICES].withDType(DType.FLOAT32);
        return new Expected(Status.DTYPE, OperandName.INDICES);
      }
      case ROWS_DTYPE -> {
        DType other = call.valid.dtype == DType.INT64 ? DType.INT8 : DType.INT64;
        call.operands[ROWS] = call.operands[ROWS].withDType(other);
        return new Expected(Status.DTYPE, call.name(ROWS));
      }
      case STRING_DTYPE -> {
        call.operands[TABLE] = call.operands[TABLE].withDType(DType.STRING);
        return new Expected(GatherUnsupportedException.class, Status.UNSUPPORTED, call.name(TABLE));
      }
      case ROWS_EXTENT -> {
        long[] extents = call.operands[ROWS].shape.clone();
        if (extents.length == 0) {
          return null;
        }
        extents[call.random.nextInt(extents.length)]++;
        call.reshape(ROWS, extents);
        return new Expected(Status.SHAPE, call.name(ROWS));
      }
      case ROWS_RANK -> {
        call.reshape(ROWS, Arrays.copyOf(call.operands[ROWS].shape, call.operands[ROWS].shape.length + 1));
        return new Expected(Status.RANK, call.name(ROWS));
      }
      case AXIS -> {
        call.options.axis(call.random.nextBoolean() ? rank : -rank - 1);
        return new Expected(Status.AXIS, OperandName.OPTIONS);
      }
      case BATCH_DIMS -> {
        call.options.batchDims(call.random.nextBoolean() ? 9 : -9);
        return new Expected(Status.BATCH, OperandName.OPTIONS);
      }
      case COMPONENTS -> {
        long[] tuple = call.operands[INDICES].shape.clone();
        if (!call.isNd()) {
          return null;
        }
        tuple[tuple.length - 1] = rank + 1L;
        call.reshape(INDICES, tuple);
        return new Expected(Status.SHAPE, OperandName.INDICES);
      }
      case NEGATIVE_EXTENT -> {
        if (shape.length == 0) {
          return null;
        }
        shape[call.random.nextInt(shape.length)] = call.random.nextLong(Long.MIN_VALUE, Plan.OPEN);
        call.reshape(operand, shape);
        return new Expected(Status.SHAPE, call.name(operand));
      }
      case LARGE_EXTENT -> {
        if (shape.length == 0 || Arrays.stream(shape).anyMatch(extent -> extent == 0)) {
          return null;
        }
        shape[call.random.nextInt(shape.length)] = call.random.nextLong(1L << 60, Long.MAX_VALUE);
        call.reshape(operand, shape);
        return new Expected(null, null); // Which size or extent is too large depends on the shapes.
      }
      case SMALL_MEMORY -> {
        if (!call.hasMemory(operand)) {
          return null;
        }
        call.over(operand, tensor.segment.asSlice(0, bytes - 1));
        boolean none = bytes == 1; // Memory of 0 bytes is NULL.
        return none ? null : new Expected(Status.STRIDE, call.name(operand));
      }
      case NO_MEMORY -> {
        if (!call.hasMemory(operand) || call.planned) {
          return null;
        }
        call.over(operand, call.random.nextBoolean() ? MemorySegment.NULL : MemorySegment.ofArray(new byte[0]));
        boolean arrays = Arrays.stream(call.operands).anyMatch(Tensor::isOnHeap);
        boolean plan = arrays && !Calls.isGradient(call.valid.operation); // Calls with arrays run a plan.
        return !call.reads() ? null : new Expected(plan ? Status.SIZE : Status.NULL, call.name(operand));
      }
      case SMALL_MEMORY_OF_RUN -> {
        if (!call.planned || !call.hasMemory(operand)) {
          return null;
        }
        call.memory[operand] = tensor.segment.asSlice(0, bytes - 1);
        return call.reads() ? new Expected(Status.SIZE, call.name(operand)) : null;
      }
      case EXTENT_OF_RUN -> {
        call.n = call.random.nextLong(0, Long.MAX_VALUE);
        return call.planned ? new Expected(Status.SHAPE, OperandName.PLAN) : null;
      }
      case READ_ONLY -> {
        call.operands[call.written()] = call.operands[call.written()].asReadOnly();
        return new Expected(Status.READONLY, call.name(call.written()));
      }
      case OVERLAP -> {
        Tensor table = call.operands[TABLE];
        Tensor rows = call.operands[ROWS];
        if (!table.isDense() || !call.reads() || table.segment.byteSize() < rows.size() * rows.dtype.size()) {
          return null;
        }
        call.over(ROWS, table.segment);
        call.reshape(ROWS, rows.shape);
        return new Expected(Status.ALIAS, call.name(call.written()));
      }
      case FILL_DTYPE -> {
        DType other = call.valid.dtype == DType.INT32 ? DType.UINT32 : DType.INT32;
        call.options.fillBytes(other, new byte[4]);
        return new Expected(Status.DTYPE, OperandName.OPTIONS);
      }
      case THREADS -> {
        call.options.threads(-1 - call.random.nextInt(Integer.MAX_VALUE));
        return new Expected(Status.VERSION, OperandName.OPTIONS);
      }
      case INDEX -> {
        MemorySegment indices = call.operands[INDICES].segment;
        if (!call.hasMemory(INDICES) || !call.reads()) {
          return null;
        }
        call.options.bounds(Bounds.ERROR);
        indices.fill((byte) 0x7f);
        return new Expected(GatherIndexException.class, Status.INDEX, OperandName.INDICES);
      }
    }
    throw new AssertionError(mistake);
  }

  private static void check(Expected expected, Call call, Arena arena) {
    MemorySegment[] segments = new MemorySegment[3];
    byte[][] before = new byte[3][];
    for (int i = 0; i < 3; i++) {
      Tensor tensor = call.operands[i];
      boolean readable = tensor != null && tensor.segment.isAccessibleBy(Thread.currentThread());
      segments[i] = readable && tensor.segment.scope().isAlive() ? tensor.segment : MemorySegment.NULL;
      before[i] = segments[i].toArray(ValueLayout.JAVA_BYTE);
    }
    RuntimeException thrown = null;
    try {
      call.run(arena);
    } catch (RuntimeException e) {
      thrown = e;
    }
    assertInstanceOf(expected.type, thrown);
    if (thrown instanceof GatherFailure failure && expected.status != null) {
      assertEquals(expected.status, failure.status(), thrown.getMessage());
      assertEquals(expected.operand, failure.details().operand(), thrown.getMessage());
    }
    assertEquals(expected.type.getName().contains("Gather"), thrown instanceof GatherFailure);
    for (int i = 0; i < 3; i++) {
      assertArrayEquals(before[i], segments[i].toArray(ValueLayout.JAVA_BYTE), "memory of operand " + i);
    }
  }

  @Test
  void mistakesThrowAndChangeNothing() throws Exception {
    CountDownLatch done = new CountDownLatch(1);
    CountDownLatch ready = new CountDownLatch(1);
    MemorySegment[] foreign = new MemorySegment[1];
    Thread other =
        Thread.ofPlatform()
            .start(
                new FutureTask<>(
                    () -> {
                      try (Arena arena = Arena.ofConfined()) {
                        foreign[0] = arena.allocate(1 << 16);
                        ready.countDown();
                        done.await();
                      }
                      return null;
                    }));
    ready.await();
    Map<Mistake, Integer> made = new EnumMap<>(Mistake.class);
    int calls = 0;
    for (long seed = 0; calls < CALLS; seed++) {
      Mistake mistake = Mistake.values()[(int) (seed % Mistake.values().length)];
      try (Arena arena = Arena.ofConfined()) {
        Call call = new Call(seed, arena);
        Expected expected = make(mistake, call, foreign[0]);
        if (expected == null) {
          continue;
        }
        try {
          check(expected, call, arena);
        } catch (AssertionError e) {
          throw new AssertionError(mistake + ", seed " + seed + ", planned " + call.planned + ", " + call.valid, e);
        }
        made.merge(mistake, 1, Integer::sum);
        calls++;
      }
    }
    done.countDown();
    other.join();
    System.out.println("hostile: " + calls + " calls: " + made);
    assertTrue(made.size() == Mistake.values().length && made.values().stream().allMatch(count -> count > 100));
  }
}
