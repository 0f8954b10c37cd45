package io.libgather;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.LongStream;

/**
 * A random request of two threads that is too large for one use of arrays. The threads write other elements of one
 * memory: every second element, the two halves of each row, or other rows of the same tensor.
 */
final class HeapCase {
  private enum Layout {
    OWN,
    ELEMENTS,
    COLUMNS,
    SAME
  }

  private static final DType[] SUMS = {DType.INT16, DType.INT32, DType.INT64, DType.FLOAT32, DType.FLOAT64};
  private static final DType[] INDICES = {DType.INT16, DType.INT32, DType.UINT32, DType.INT64};

  /** The operation, or null for a copy of elements. */
  final Operation operation;

  final Options options;
  final boolean planned;

  /** For each thread, the table, the indices and the rows. */
  final Tensor[][] operands = new Tensor[2][3];

  private final Random random;
  private final Arena arena;
  private final DType dtype;
  private final Reduction reduction;
  private final boolean isPartOfRows;
  private final boolean fails;
  private final Bounds bounds;

  private long[] table;
  private long[] indices;
  private long[] rows;
  private int axis;
  private int components = 1;
  private int batch;

  HeapCase(long seed, Arena arena) {
    random = new Random(seed);
    this.arena = arena;
    int number = random.nextInt(Operation.GATHER_BAGS.ordinal() + 1);
    operation = number == Operation.GATHER_BAGS.ordinal() ? null : Operation.values()[number];
    boolean scatters = is("SCATTER");
    reduction = scatters ? Reduction.values()[random.nextInt(Reduction.values().length)] : Reduction.NONE;
    boolean sums = is("GRADIENT") || reduction != Reduction.NONE;
    dtype = sums ? SUMS[random.nextInt(SUMS.length)] : DType.values()[random.nextInt(DType.STRING.ordinal())];
    shapes();
    boolean indexed = operation != null && components > 0;
    isPartOfRows = indexed && !is("GRADIENT") && random.nextInt(3) == 0;
    fails = indexed && !isPartOfRows && random.nextInt(6) == 0;
    Bounds[] policies = {Bounds.ERROR, Bounds.SKIP, Bounds.CLAMP, Bounds.MODULO};
    bounds = isPartOfRows ? Bounds.SKIP : fails ? Bounds.ERROR : policies[random.nextInt(policies.length)];
    options = options();
    planned = operation != null && !is("GRADIENT") && random.nextBoolean();
    int written = operation == null || Calls.writesRows(operation) ? 2 : 0;
    describe(0, dtype, table, layout(written == 0));
    describe(1, INDICES[random.nextInt(INDICES.length)], indices, layout(false));
    describe(2, dtype, rows, layout(written == 2));
  }

  private boolean is(String part) {
    return operation != null && operation.name().contains(part);
  }

  private Layout layout(boolean written) {
    if (written && isPartOfRows) {
      return Layout.SAME;
    }
    return Layout.values()[(written ? 1 : 0) + random.nextInt(written ? 2 : 3)];
  }

  /** Sets the shapes: many tuples, few of them with wide slices, or an outer dim of 1. */
  private void shapes() {
    long n = Heap.INDICES + 1 + random.nextInt(4000);
    long most = Heap.ROW_BYTES / dtype.size();
    long width = random.nextBoolean() ? 1 + random.nextInt(3) : most / n + 1;
    int form = random.nextInt(5);
    long[][] forms = {{n}, {1, n}, {2, n / 2}, {3}, {}};
    long[] tuples = forms[form];
    long[] inner = {form < 3 ? width : most};
    long size = form < 3 ? 4 + 2 * random.nextInt(5) : 2;
    if (operation == null) {
      table = rows = new long[] {n, width};
      indices = new long[] {0};
    } else if (is("ELEMENTS")) {
      indices = new long[][] {{n, width}, {1, n * width}, {width, n}, {n}}[random.nextInt(4)];
      axis = random.nextInt(indices.length);
      rows = indices;
      table = indices.clone();
      table[axis] = size;
    } else {
      boolean nd = is("ND");
      components = nd ? random.nextInt(3) : 1;
      long[] outer = random.nextInt(3) == 0 ? new long[] {2} : new long[0];
      batch = nd || random.nextBoolean() ? outer.length : 0;
      axis = outer.length;
      long[] indexed = components == 0 ? new long[0] : components == 1 ? new long[] {size} : new long[] {size, 3};
      table = join(outer, indexed, inner);
      indices = join(Arrays.copyOf(outer, batch), tuples, nd ? new long[] {components} : new long[0]);
      rows = join(outer, tuples, inner);
    }
  }

  private Options options() {
    Options.Builder found = Options.builder().bounds(bounds).threads(1 + random.nextInt(2)).batchDims(batch);
    if (!is("ND")) {
      found.axis(axis);
    }
    return is("SCATTER") ? found.reduction(reduction).build() : found.build();
  }

  /** Creates an operand of both threads. */
  private void describe(int operand, DType type, long[] shape, Layout layout) {
    boolean shared = layout == Layout.ELEMENTS || layout == Layout.COLUMNS;
    long run = layout == Layout.COLUMNS && shape.length > 0 ? shape[shape.length - 1] : 1;
    long[] doubled = shape.clone();
    if (layout == Layout.COLUMNS && shape.length > 0) {
      doubled[shape.length - 1] *= 2;
    }
    long[] strides = RandomCase.strides(doubled, type.size() * (layout == Layout.ELEMENTS ? 2L : 1));
    boolean heap = layout == Layout.SAME || random.nextInt(4) > 0;
    MemorySegment memory = null;
    for (int thread = 0; thread < 2; thread++) {
      if (memory == null || layout == Layout.OWN) {
        memory = memory(heap, product(shape) * type.size() * (shared ? 2 : 1));
        fill(memory, type);
      }
      Tensor tensor = Tensor.of(memory, type, shape);
      operands[thread][operand] = shared ? tensor.withStrides(thread * run * type.size(), strides) : tensor;
      long[] values = operand == 1 ? indices(thread) : new long[0];
      for (int i = 0; i < values.length; i++) {
        long element = shared ? (i / run * 2 + thread) * run + i % run : i;
        RandomCase.put(memory, element * type.size(), type, values[i]);
      }
    }
  }

  /** Fills memory with copies of some random values. */
  private void fill(MemorySegment memory, DType type) {
    long bytes = Math.min(997L * type.size(), memory.byteSize());
    for (long at = 0; at < bytes; at += type.size()) {
      RandomCase.put(memory, at, type, random.nextInt(reduction == Reduction.MUL ? 2 : 100));
    }
    for (; bytes > 0 && bytes < memory.byteSize(); bytes *= 2) {
      memory.asSlice(bytes).copyFrom(memory.asSlice(0, Math.min(bytes, memory.byteSize() - bytes)));
    }
  }

  /** Returns memory of the size of an array of any type. */
  private MemorySegment memory(boolean heap, long bytes) {
    if (!heap) {
      return arena.allocate(bytes, 1);
    }
    MemorySegment array =
        switch (random.nextInt(3)) {
          case 0 -> MemorySegment.ofArray(new byte[(int) bytes]);
          case 1 -> MemorySegment.ofArray(new float[(int) (bytes + 3) / 4]);
          default -> MemorySegment.ofArray(new long[(int) (bytes + 7) / 8]);
        };
    return array.asSlice(0, bytes);
  }

  /** Returns indices. Indices of a part of the rows select every second row, or are invalid at every second position.
   * */
  private long[] indices(int thread) {
    long[] found = new long[(int) product(indices)];
    for (int i = 0; i < found.length; i++) {
      int component = is("ND") ? i % components : 0;
      long size = table[axis + component];
      found[i] = random.nextLong(bounds != Bounds.ERROR && random.nextInt(50) == 0 ? 2 * size : size);
      if (isPartOfRows && component == 0) {
        boolean skipped = Calls.writesRows(operation) && i / components % 2 != thread;
        found[i] = skipped ? Short.MAX_VALUE : Calls.writesRows(operation) ? found[i] : found[i] / 2 * 2 + thread;
      }
    }
    if (fails) {
      found[found.length - 1] = Short.MAX_VALUE;
    }
    return found;
  }

  private static long product(long[] shape) {
    return Arrays.stream(shape).reduce(1, (a, b) -> a * b);
  }

  private static long[] join(long[]... parts) {
    return Arrays.stream(parts).flatMapToLong(LongStream::of).toArray();
  }

  @Override
  public String toString() {
    return operation + " " + Arrays.deepToString(operands) + " axis " + axis + " batch " + batch + " " + reduction
        + (isPartOfRows ? " parts of the same rows" : "") + (planned ? " by a plan" : "");
  }
}
