import io.libgather.DType;
import io.libgather.Gather;
import io.libgather.Operation;
import io.libgather.Options;
import io.libgather.Plan;
import io.libgather.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * Measures the time that Java adds to a call of the C library: java Overhead LOOPS, with the path of loops.c as a
 * shared library. Each call gathers one row of 4 bytes, and all data is in the L1 cache. It prints a line for each kind
 * of call: the nanoseconds in C, the nanoseconds in Java, and the median of their difference in the same round.
 */
final class Overhead {
  private static final int ROUNDS = 401;
  private static final int WARM = 100;
  private static final int REPEATS = 2000;

  /** A loop repeats a call. */
  @FunctionalInterface
  private interface Loop {
    void run(int count) throws Throwable;
  }

  private static final Arena ARENA = Arena.ofAuto();
  private static final MemorySegment TABLE = ARENA.allocate(256);
  private static final MemorySegment IDS = ARENA.allocateFrom(ValueLayout.JAVA_LONG, 7);
  private static final MemorySegment OUT = ARENA.allocate(4);
  private static final Tensor PARAMS = Tensor.of(TABLE, DType.FLOAT32, 64);
  private static final Tensor INDICES = Tensor.of(IDS, DType.INT64, 1);
  private static final Tensor OUTPUT = Tensor.of(OUT, DType.FLOAT32, 1);
  private static final Plan CLOSED = Plan.gather(PARAMS, INDICES, Options.DEFAULT);
  private static final Plan OPEN = Plan.gather(PARAMS, Tensor.shaped(DType.INT64, Plan.OPEN), Options.DEFAULT);
  private static final float[] TABLE_ARRAY = new float[64];
  private static final long[] IDS_ARRAY = {7};
  private static final float[] OUT_ARRAY = new float[1];
  private static final Tensor PARAMS_ARRAY = Tensor.of(TABLE_ARRAY);
  private static final Tensor INDICES_ARRAY = Tensor.of(IDS_ARRAY);
  private static final Tensor OUTPUT_ARRAY = Tensor.of(OUT_ARRAY);

  private static void run(int count) {
    for (int i = 0; i < count; i++) {
      CLOSED.run(TABLE, IDS, OUT);
    }
  }

  private static void runOpen(int count) {
    for (int i = 0; i < count; i++) {
      OPEN.run(1, TABLE, IDS, OUT);
    }
  }

  private static void describedOnce(int count) {
    for (int i = 0; i < count; i++) {
      Gather.gatherInto(OUTPUT, PARAMS, INDICES, Options.DEFAULT);
    }
  }

  private static void described(int count) {
    for (int i = 0; i < count; i++) {
      Tensor params = Tensor.of(TABLE, DType.FLOAT32, 64);
      Tensor indices = Tensor.of(IDS, DType.INT64, 1);
      Gather.gatherInto(Tensor.of(OUT, DType.FLOAT32, 1), params, indices, Options.DEFAULT);
    }
  }

  private static void newOutput(int count) {
    for (int i = 0; i < count; i++) {
      try (Arena arena = Arena.ofConfined()) {
        Gather.make(arena, Operation.GATHER, PARAMS, INDICES, Options.DEFAULT);
      }
    }
  }

  private static void runArrays(int count) {
    for (int i = 0; i < count; i++) {
      CLOSED.run(
          MemorySegment.ofArray(TABLE_ARRAY), MemorySegment.ofArray(IDS_ARRAY), MemorySegment.ofArray(OUT_ARRAY));
    }
  }

  private static void gatherArrays(int count) {
    for (int i = 0; i < count; i++) {
      Gather.gatherInto(OUTPUT_ARRAY, PARAMS_ARRAY, INDICES_ARRAY, Options.DEFAULT);
    }
  }

  private static Loop inC(SymbolLookup loops, String name) {
    MethodHandle handle =
        Linker.nativeLinker()
            .downcallHandle(
                loops.find(name).orElseThrow(), FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
    return count -> {
      if ((int) handle.invokeExact((long) count) != 0) {
        throw new AssertionError(name);
      }
    };
  }

  /** Runs loops in turn, so that a disturbance affects all of them. Returns the nanoseconds of one repeat. */
  private static double[][] sideBySide(Loop... loops) throws Throwable {
    double[][] times = new double[loops.length][ROUNDS];
    for (int round = -WARM; round < ROUNDS; round++) {
      for (int i = 0; i < loops.length; i++) {
        long start = System.nanoTime();
        loops[i].run(REPEATS);
        double time = (System.nanoTime() - start) / (double) REPEATS;
        if (round >= 0) {
          times[i][round] = time;
        }
      }
    }
    return times;
  }

  private static double median(double[] times) {
    double[] sorted = times.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  private static double difference(double[] first, double[] second) {
    double[] more = new double[first.length];
    Arrays.setAll(more, round -> second[round] - first[round]);
    return median(more);
  }

  public static void main(String[] arguments) throws Throwable {
    SymbolLookup loops = SymbolLookup.libraryLookup(Path.of(arguments[0]), ARENA);
    String[] names = {
      "plan run",
      "plan run, open extent",
      "gather into an output, operands described once",
      "gather into an output, operands described in each call",
      "gather with a new output",
    };
    double[][] times =
        sideBySide(
            inC(loops, "plan_run"),
            Overhead::run,
            inC(loops, "plan_run_open"),
            Overhead::runOpen,
            inC(loops, "described_once"),
            Overhead::describedOnce,
            inC(loops, "described"),
            Overhead::described,
            inC(loops, "new_output"),
            Overhead::newOutput,
            Overhead::runArrays,
            Overhead::gatherArrays);
    for (int i = 0; i < names.length; i++) {
      double[] c = times[2 * i];
      double[] own = times[2 * i + 1];
      System.out.printf(Locale.ROOT, "%s\t%.1f\t%.1f\t%.1f%n", names[i], median(c), median(own), difference(c, own));
    }
    System.out.printf(Locale.ROOT, "plan run with arrays\t%.1f%n", median(times[10]));
    System.out.printf(Locale.ROOT, "gather with arrays into an array\t%.1f%n", median(times[11]));
  }
}
