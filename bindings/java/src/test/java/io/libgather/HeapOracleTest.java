package io.libgather;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

/**
 * Compares calls with arrays with loops in double. The numbers of ids are around 4096, the limit for a call that uses
 * an array without a copy. All sums are exact in double.
 */
class HeapOracleTest {
  private static final int[] COUNTS = {4095, 4096, 4097, 5000, 20_000};
  private static final int ROWS = 53;
  private static final int PADDING = 7;

  /** A type of arrays: its dtype, and conversions from and to numbers in double. */
  private enum Type {
    BYTE(DType.INT8),
    SHORT(DType.INT16),
    INT(DType.INT32),
    LONG(DType.INT64),
    FLOAT(DType.FLOAT32),
    DOUBLE(DType.FLOAT64);

    final DType dtype;

    Type(DType dtype) {
      this.dtype = dtype;
    }

    boolean isInteger() {
      return this != FLOAT && this != DOUBLE;
    }

    /** Returns a number as an element has it. */
    double rounded(double number) {
      return switch (this) {
        case BYTE -> (byte) (long) number;
        case SHORT -> (short) (long) number;
        case INT -> (int) (long) number;
        case LONG -> (long) number;
        case FLOAT -> (float) number;
        case DOUBLE -> number;
      };
    }

    MemorySegment of(double[] numbers) {
      int count = numbers.length;
      switch (this) {
        case BYTE -> {
          byte[] array = new byte[count];
          for (int i = 0; i < count; i++) array[i] = (byte) (long) numbers[i];
          return MemorySegment.ofArray(array);
        }
        case SHORT -> {
          short[] array = new short[count];
          for (int i = 0; i < count; i++) array[i] = (short) (long) numbers[i];
          return MemorySegment.ofArray(array);
        }
        case INT -> {
          return MemorySegment.ofArray(Arrays.stream(numbers).mapToInt(each -> (int) (long) each).toArray());
        }
        case LONG -> {
          return MemorySegment.ofArray(Arrays.stream(numbers).mapToLong(each -> (long) each).toArray());
        }
        case FLOAT -> {
          float[] array = new float[count];
          for (int i = 0; i < count; i++) array[i] = (float) numbers[i];
          return MemorySegment.ofArray(array);
        }
        default -> {
          return MemorySegment.ofArray(numbers.clone());
        }
      }
    }

    Tensor tensor(double[] numbers, long... shape) {
      return Tensor.of(of(numbers), dtype, shape);
    }

    double[] numbers(MemorySegment memory) {
      Object array = memory.heapBase().orElseThrow();
      return switch (this) {
        case BYTE -> numbers(((byte[]) array).length, i -> ((byte[]) array)[i]);
        case SHORT -> numbers(((short[]) array).length, i -> ((short[]) array)[i]);
        case INT -> Arrays.stream((int[]) array).asDoubleStream().toArray();
        case LONG -> Arrays.stream((long[]) array).asDoubleStream().toArray();
        case FLOAT -> numbers(((float[]) array).length, i -> ((float[]) array)[i]);
        case DOUBLE -> ((double[]) array).clone();
      };
    }

    private static double[] numbers(int count, IntToDoubleFunction number) {
      double[] found = new double[count];
      Arrays.setAll(found, number);
      return found;
    }
  }

  private final Random random = new Random(61);

  /** Returns numbers that are exact in every type, and of which the product of many is exact. */
  private double[] numbers(int count, Reduction reduction, int most) {
    double[] found = new double[count];
    Arrays.setAll(found, i -> reduction == Reduction.MUL ? random.nextInt(2) * 2 - 1 : random.nextInt(2 * most) - most);
    return found;
  }

  private double[] numbers(int count) {
    return numbers(count, Reduction.NONE, 100);
  }

  /** Returns ids in long, int or short. Each row is selected by a different number of ids, and the last ones by none. */
  private double[] ids(int count, int rows) {
    double[] found = new double[count];
    Arrays.setAll(found, i -> Math.min(random.nextInt(rows - 3), random.nextInt(rows - 3)));
    return found;
  }

  private static Type idType(int count) {
    return count % 3 == 0 ? Type.LONG : count % 3 == 1 ? Type.INT : Type.SHORT;
  }

  /** An element of the target, to which updates are added one after another. */
  private static final class Element {
    private final Type type;
    private final Reduction reduction;
    private final boolean fromUpdate;
    private double value;
    private int terms;

    Element(Type type, Reduction reduction, boolean fromUpdate, double target) {
      this.type = type;
      this.reduction = reduction;
      this.fromUpdate = fromUpdate;
      value = target;
    }

    void add(double update) {
      boolean isFirst = terms++ == 0 && fromUpdate;
      value = isFirst || reduction == Reduction.NONE ? update : combined(update);
    }

    private double combined(double update) {
      return switch (reduction) {
        case NONE -> update;
        case ADD, MEAN -> type.isInteger() ? type.rounded(value + update) : value + update;
        case MUL -> value * update;
        case MAX -> Math.max(value, update);
        case MIN -> Math.min(value, update);
      };
    }

    double result() {
      if (terms == 0 || reduction != Reduction.MEAN) {
        return type.rounded(value);
      }
      double mean = value / (fromUpdate ? terms : terms + 1);
      return type.rounded(type.isInteger() ? Math.floor(mean) : mean);
    }
  }

  /** One scatter of `count` tuples into rows, and what it should write. */
  private final class Scatter {
    final Operation operation;
    final Type type;
    final Reduction reduction;
    final int count;
    final int width;
    final boolean isOneRow;
    private final int most;

    Scatter(Operation operation, Type type, Reduction reduction, int count, int width, boolean isOneRow, int most) {
      this.operation = operation;
      this.type = type;
      this.reduction = reduction;
      this.count = count;
      this.width = width;
      this.isOneRow = isOneRow;
      this.most = most;
    }

    void check(Options.Builder builder, boolean fromUpdate, boolean pads) {
      boolean elements = operation == Operation.SCATTER_ELEMENTS;
      double[] target = numbers(ROWS * width, reduction, most);
      double[] updates = numbers(isOneRow ? width : count * width, reduction, most);
      double[] ids = ids(elements ? count * width : count, ROWS);
      Element[] found = new Element[target.length];
      Arrays.setAll(found, i -> new Element(type, reduction, fromUpdate, target[i]));
      for (int i = 0; i < count * width; i++) {
        int column = i % width;
        int id = (int) ids[elements ? i : i / width];
        if (!pads || id != PADDING) {
          found[id * width + column].add(updates[isOneRow ? column : i]);
        }
      }
      double[] expected = new double[target.length];
      Arrays.setAll(expected, i -> found[i].result());
      Tensor written = type.tensor(target, ROWS, width);
      long[] shape = elements ? new long[] {count, width} : new long[] {count};
      Tensor indices = idType(count).tensor(ids, operation == Operation.SCATTER_ND ? new long[] {count, 1} : shape);
      Tensor given = isOneRow ? type.tensor(updates, width) : type.tensor(updates, count, width);
      Options options = builder.reduction(reduction).build();
      switch (operation) {
        case SCATTER -> Gather.scatterInto(written, indices, given, options);
        case SCATTER_ND -> Gather.scatterNdInto(written, indices, given, options);
        default -> Gather.scatterElementsInto(written, indices, given, options);
      }
      assertArrayEquals(expected, type.numbers(written.segment()), this + " " + options);
    }

    @Override
    public String toString() {
      return operation + " " + type + " " + count + " ids, width " + width + (isOneRow ? ", one row" : "");
    }
  }

  private static final Operation[] SCATTERS = {
    Operation.SCATTER, Operation.SCATTER_ND, Operation.SCATTER_ELEMENTS
  };

  @Test
  void scattersOfEveryArrayAndReductionEqualALoop() {
    for (int count : COUNTS) {
      for (Type type : Type.values()) {
        for (Reduction reduction : Reduction.values()) {
          Operation operation = SCATTERS[random.nextInt(3)];
          for (boolean fromUpdate : new boolean[] {false, true}) {
            boolean pads = random.nextBoolean();
            Options.Builder options = Options.builder().initial(fromUpdate ? Initial.UPDATE : Initial.TARGET);
            Scatter scatter = new Scatter(operation, type, reduction, count, 1 + random.nextInt(3), false, 30);
            scatter.check(pads ? options.paddingIndex(PADDING) : options, fromUpdate, pads);
          }
        }
      }
    }
  }

  /** Rows of 1,024 floats have the size at which a wrong division read memory that did not exist. */
  @Test
  void scattersOfOneRowOfUpdatesEqualALoop() {
    for (int count : COUNTS) {
      for (Reduction reduction : Reduction.values()) {
        int width = count == 5000 ? 1024 : 64;
        for (Operation operation : new Operation[] {Operation.SCATTER, Operation.SCATTER_ND}) {
          new Scatter(operation, Type.FLOAT, reduction, count, width, true, 9).check(Options.builder(), false, false);
        }
      }
    }
  }

  /** The sums are not exact in float. */
  @Test
  void sumsInDoubleEqualALoop() {
    for (int count : COUNTS) {
      for (Operation operation : SCATTERS) {
        for (Reduction reduction : new Reduction[] {Reduction.ADD, Reduction.MEAN}) {
          Options.Builder options = Options.builder().accumulate(Accumulate.FLOAT64);
          new Scatter(operation, Type.FLOAT, reduction, count, 2, false, 1 << 23).check(options, false, false);
        }
      }
    }
  }

  @Test
  void gathersOfEveryArrayEqualALoop() {
    for (int count : COUNTS) {
      for (Type type : Type.values()) {
        int width = 1 + random.nextInt(5);
        double[] table = numbers(ROWS * width);
        double[] ids = ids(count, ROWS);
        Tensor params = type.tensor(table, ROWS, width);
        double[] expected = new double[count * width];
        Arrays.setAll(expected, i -> table[((int) ids[i / width]) * width + i % width]);
        MemorySegment rows = type.of(new double[count * width]);
        Tensor out = Tensor.of(rows, type.dtype, count, width);
        Gather.gatherInto(out, params, idType(count).tensor(ids, count));
        assertArrayEquals(expected, type.numbers(rows), type + " " + count);
        rows.fill((byte) 0);
        Gather.gatherNdInto(out, params, idType(count).tensor(ids, count, 1));
        assertArrayEquals(expected, type.numbers(rows), type + " " + count);

        // The axis is the last one, so each id selects a column.
        double[] columns = new double[ROWS * width];
        Arrays.setAll(columns, i -> table[i % ROWS * width + i / ROWS]);
        Arrays.setAll(expected, i -> columns[i / count * ROWS + (int) ids[i % count]]);
        Options last = Options.builder().axis(1).build();
        Tensor across = Tensor.of(rows, type.dtype, width, count);
        Gather.gatherInto(across, type.tensor(columns, width, ROWS), idType(count).tensor(ids, count), last);
        assertArrayEquals(expected, type.numbers(rows), type + " " + count);

        double[] all = ids(count * width, ROWS);
        Arrays.setAll(expected, i -> all[i] == PADDING ? 0 : table[((int) all[i]) * width + i % width]);
        Options pads = Options.builder().paddingIndex(PADDING).build();
        Gather.gatherElementsInto(out, params, idType(count).tensor(all, count, width), pads);
        assertArrayEquals(expected, type.numbers(rows), type + " " + count);
      }
    }
  }

  private static double pooled(Pool pool, double sum, double weights, double most) {
    return switch (pool) {
      case SUM -> sum;
      case MEAN -> weights == 0 ? 0 : (float) (sum / weights);
      default -> most;
    };
  }

  @Test
  void bagsEqualALoop() {
    int width = 5;
    int size = 8;
    double[] table = numbers(ROWS * width);
    for (int given : COUNTS) {
      int count = (given + size - 1) / size * size;
      for (boolean weighted : new boolean[] {false, true}) {
        for (Pool pool : new Pool[] {Pool.SUM, Pool.MEAN, Pool.MAX}) {
          if (weighted && pool == Pool.MAX) {
            continue;
          }
          double[] ids = ids(count, ROWS);
          double[] weights = new double[count];
          Arrays.setAll(weights, i -> weighted ? 1 + random.nextInt(4) : 1);
          double[] expected = new double[count / size * width];
          for (int i = 0; i < expected.length; i++) {
            double sum = 0;
            double divisor = 0;
            double most = Double.NEGATIVE_INFINITY;
            for (int k = i / width * size; k < (i / width + 1) * size; k++) {
              double value = table[((int) ids[k]) * width + i % width];
              sum += weights[k] * value;
              divisor += weights[k];
              most = Math.max(most, value);
            }
            expected[i] = pooled(pool, sum, divisor, most);
          }
          double[] borders = new double[count / size + 1];
          Arrays.setAll(borders, i -> i * size);
          Tensor params = Type.FLOAT.tensor(table, ROWS, width);
          Tensor weight = weighted ? Type.FLOAT.tensor(weights, count) : null;
          Tensor bags = Type.INT.tensor(borders, borders.length);
          Options options = Options.builder().pool(pool).build();
          Tensor pooled = Gather.gatherBags(params, Type.INT.tensor(ids, count), bags, weight, options);
          assertArrayEquals(floats(expected), pooled.toFloatArray(), pool + " " + count);
          Tensor dense = weighted ? Type.FLOAT.tensor(weights, count / size, size) : null;
          Tensor out = Tensor.of(new float[expected.length], count / size, width);
          Gather.gatherBagsInto(out, params, Type.LONG.tensor(ids, count / size, size), null, dense, options);
          assertArrayEquals(floats(expected), out.toFloatArray(), pool + " " + count);
        }
      }
    }
  }

  private static float[] floats(double[] numbers) {
    return (float[]) Type.FLOAT.of(numbers).heapBase().orElseThrow();
  }

  /** One run of an open plan, whose rows have more memory than it needs. */
  private static final class PlanRun {
    private final MemorySegment table;
    private final double[] ids;
    private final double[] expected;

    PlanRun(HeapOracleTest test, double[] table, int n) {
      this.table = Type.FLOAT.of(table);
      ids = test.ids(n, ROWS);
      expected = new double[2 * n + 5];
      Arrays.setAll(expected, i -> i < 2 * n ? table[((int) ids[i / 2]) * 2 + i % 2] : -1);
    }

    void run(Plan plan) {
      MemorySegment rows = Type.FLOAT.of(Arrays.stream(expected).map(each -> -1).toArray());
      plan.run(ids.length, table, Type.LONG.of(ids), rows);
      assertArrayEquals(expected, Type.FLOAT.numbers(rows));
      assertEquals(new Plan.Extents(ids.length, 8 * ROWS, 8L * ids.length, 8L * ids.length), plan.extents(ids.length));
    }
  }

  private static Plan openPlan() {
    return Plan.gather(Tensor.shaped(DType.FLOAT32, ROWS, 2), Tensor.shaped(DType.INT64, Plan.OPEN), Options.DEFAULT);
  }

  @Test
  void planRunsWithEveryPairOfOpenExtentsInBothOrders() {
    double[] table = numbers(ROWS * 2);
    int[] all = {1, 2, 4095, 4096, 4097, 5000, 20_000};
    for (int first : all) {
      for (int second : all) {
        Plan plan = openPlan();
        PlanRun run = new PlanRun(this, table, first);
        PlanRun other = new PlanRun(this, table, second);
        run.run(plan);
        other.run(plan);
        run.run(plan);
        MemorySegment small = MemorySegment.ofArray(new float[2 * second - 1]);
        var e =
            assertThrows(
                GatherArgumentException.class,
                () -> plan.run(second, run.table, MemorySegment.ofArray(new long[second]), small));
        long needed = 8L * second;
        var expected = new ErrorDetails(Status.SIZE, OperandName.OUT, -1, -1, needed - 4, needed, -1, false, false, 0);
        assertEquals(expected, e.details());
      }
    }
  }

  /** Runs with an invalid open extent, of released plans and with invalid ids leave the plan as it was. */
  @Test
  void failedRunDoesNotChangeLaterRuns() {
    PlanRun run = new PlanRun(this, numbers(ROWS * 2), 5000);
    Plan plan = openPlan();
    MemorySegment ids = MemorySegment.ofArray(new long[20_000]);
    ids.set(JAVA_LONG, 8 * 19_999, ROWS);
    MemorySegment rows = MemorySegment.ofArray(new float[40_000]);
    assertThrows(GatherArgumentException.class, () -> plan.run(-7, run.table, ids, rows));
    run.run(plan);
    var e = assertThrows(GatherIndexException.class, () -> plan.run(20_000, run.table, ids, rows));
    assertEquals(19_999, e.position());
    assertArrayEquals(new float[40_000], rows.toArray(JAVA_FLOAT));
    run.run(plan);
    assertThrows(GatherArgumentException.class, () -> plan.extents(Long.MAX_VALUE));
    assertThrows(GatherArgumentException.class, () -> plan.outputShape(-7));
    run.run(plan);
  }

  @Test
  void threadsRunOnePlanWithDifferentOpenExtents() throws Exception {
    double[] table = numbers(ROWS * 2);
    Plan plan = openPlan();
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int n : new int[] {3, 4097, 5000, 20_000}) {
      PlanRun run = new PlanRun(this, table, n);
      tasks.add(
          () -> {
            for (int i = 0; i < 200; i++) {
              run.run(plan);
            }
            return null;
          });
    }
    try (var threads = Executors.newFixedThreadPool(tasks.size())) {
      for (var each : threads.invokeAll(tasks)) {
        each.get();
      }
    }
  }
}
