package overhead;

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
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Measures the time that Java adds to a call of the C library with JMH: java -Dloops=LOOPS overhead.Overhead, with the
 * path of loops.c as a shared library. Each call gathers one row of 4 bytes, and all data is in the L1 cache. It prints
 * a line for each kind of call: the nanoseconds in C, the nanoseconds in Java, and their difference. The programs run in
 * turn, so that a disturbance affects all of them. Each number is a median of the rounds, and a round gives the shortest
 * of many short iterations, because other processes interrupt most of them on a busy machine.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 60, time = 5, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class Overhead {
  private static final int ROUNDS = 3;
  private static final int REPEATS = 2000;

  /** The names of the table by method. A method with the suffix InC is the loop of C. */
  private static final Map<String, String> NAMES = new LinkedHashMap<>();

  static {
    NAMES.put("planRun", "plan run");
    NAMES.put("planRunOpen", "plan run, open extent");
    NAMES.put("describedOnce", "gather into an output, operands described once");
    NAMES.put("described", "gather into an output, operands described in each call");
    NAMES.put("newOutput", "gather with a new output");
    NAMES.put("planRunArrays", "plan run with arrays");
    NAMES.put("gatherArrays", "gather with arrays into an array");
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

  private static final MethodHandle PLAN_RUN = loop("plan_run");
  private static final MethodHandle PLAN_RUN_OPEN = loop("plan_run_open");
  private static final MethodHandle DESCRIBED_ONCE = loop("described_once");
  private static final MethodHandle DESCRIBED = loop("described");
  private static final MethodHandle NEW_OUTPUT = loop("new_output");

  private static MethodHandle loop(String name) {
    FunctionDescriptor descriptor = FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG);
    SymbolLookup loops = SymbolLookup.libraryLookup(Path.of(System.getProperty("loops")), ARENA);
    return Linker.nativeLinker().downcallHandle(loops.find(name).orElseThrow(), descriptor);
  }

  @Benchmark
  public void planRun() {
    CLOSED.run(TABLE, IDS, OUT);
  }

  @Benchmark
  @OperationsPerInvocation(REPEATS)
  public int planRunInC() throws Throwable {
    return (int) PLAN_RUN.invokeExact((long) REPEATS);
  }

  @Benchmark
  public void planRunOpen() {
    OPEN.run(1, TABLE, IDS, OUT);
  }

  @Benchmark
  @OperationsPerInvocation(REPEATS)
  public int planRunOpenInC() throws Throwable {
    return (int) PLAN_RUN_OPEN.invokeExact((long) REPEATS);
  }

  @Benchmark
  public void describedOnce() {
    Gather.gatherInto(OUTPUT, PARAMS, INDICES, Options.DEFAULT);
  }

  @Benchmark
  @OperationsPerInvocation(REPEATS)
  public int describedOnceInC() throws Throwable {
    return (int) DESCRIBED_ONCE.invokeExact((long) REPEATS);
  }

  @Benchmark
  public void described() {
    Tensor params = Tensor.of(TABLE, DType.FLOAT32, 64);
    Tensor indices = Tensor.of(IDS, DType.INT64, 1);
    Gather.gatherInto(Tensor.of(OUT, DType.FLOAT32, 1), params, indices, Options.DEFAULT);
  }

  @Benchmark
  @OperationsPerInvocation(REPEATS)
  public int describedInC() throws Throwable {
    return (int) DESCRIBED.invokeExact((long) REPEATS);
  }

  @Benchmark
  public void newOutput() {
    try (Arena arena = Arena.ofConfined()) {
      Gather.make(arena, Operation.GATHER, PARAMS, INDICES, Options.DEFAULT);
    }
  }

  @Benchmark
  @OperationsPerInvocation(REPEATS)
  public int newOutputInC() throws Throwable {
    return (int) NEW_OUTPUT.invokeExact((long) REPEATS);
  }

  @Benchmark
  public void planRunArrays() {
    MemorySegment ids = MemorySegment.ofArray(IDS_ARRAY);
    CLOSED.run(MemorySegment.ofArray(TABLE_ARRAY), ids, MemorySegment.ofArray(OUT_ARRAY));
  }

  @Benchmark
  public void gatherArrays() {
    Gather.gatherInto(OUTPUT_ARRAY, PARAMS_ARRAY, INDICES_ARRAY, Options.DEFAULT);
  }

  /** Runs a method in a JVM of its own, and returns the nanoseconds of the shortest iteration. */
  private static double measure(String method) throws RunnerException {
    var options =
        new OptionsBuilder()
            .include(Overhead.class.getName() + "." + method + "$")
            .verbosity(VerboseMode.SILENT)
            .shouldFailOnError(true)
            .build();
    return new Runner(options).runSingle().getPrimaryResult().getStatistics().getMin();
  }

  private static double median(double[] numbers) {
    double[] sorted = numbers.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  public static void main(String[] arguments) throws RunnerException {
    String[] methods = NAMES.keySet().toArray(String[]::new);
    double[][] own = new double[methods.length][ROUNDS];
    double[][] c = new double[methods.length][ROUNDS];
    double[][] more = new double[methods.length][ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < methods.length; i++) {
        boolean paired = !methods[i].endsWith("Arrays");
        c[i][round] = paired ? measure(methods[i] + "InC") : 0;
        own[i][round] = measure(methods[i]);
        more[i][round] = own[i][round] - c[i][round];
      }
    }
    for (int i = 0; i < methods.length; i++) {
      String name = NAMES.get(methods[i]);
      if (methods[i].endsWith("Arrays")) {
        System.out.printf(Locale.ROOT, "%s\t%.1f%n", name, median(own[i]));
      } else {
        System.out.printf(
            Locale.ROOT, "%s\t%.1f\t%.1f\t%.1f%n", name, median(c[i]), median(own[i]), median(more[i]));
      }
    }
  }
}
