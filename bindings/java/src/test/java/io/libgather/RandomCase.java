package io.libgather;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.LongStream;

/** A random call without a profile, and its outcome by loops over single elements, without the library. */
final class RandomCase {
  private static final DType[] NUMBERS = {DType.INT32, DType.INT64, DType.FLOAT32, DType.FLOAT64};
  private static final DType[] INTEGERS = {
    DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.UINT8, DType.UINT16, DType.UINT32, DType.UINT64
  };
  private static final long FILL = 77;
  private static final Reduction[] REDUCTIONS = {
    Reduction.NONE, Reduction.ADD, Reduction.MUL, Reduction.MAX, Reduction.MIN
  };

  final Random random;
  final Operation operation;
  final DType dtype;
  final long[] shape;
  final long[] indexShape;
  final long[] rowsShape;

  /** The first indexed dim of the table, the number of indexed dims, and the number of tuple dims. */
  final int axis;

  final int components;
  final int tuples;
  final int batch;

  private final DType indexDType;
  private final Bounds bounds;
  private final Negative negative;
  private final Reduction reduction;
  private final long[] table;
  private final long[] indices;
  private final long[] rows;

  /** The error, or null. */
  ErrorDetails failure;

  private RandomCase(Random random) {
    this.random = random;
    operation = Operation.values()[random.nextInt(Operation.GATHER_BAGS.ordinal())];
    int rank = 1 + random.nextInt(4);
    batch = isElements() ? 0 : random.nextInt(Math.min(rank, 3));
    components = isNd() ? random.nextInt(rank - batch + 1) : 1;
    axis = isNd() ? batch : batch + random.nextInt(rank - batch);
    tuples = isElements() ? rank : random.nextInt(3);
    shape = random.longs(rank, 1, 6).toArray();
    if (random.nextInt(10) == 0) {
      shape[random.nextInt(rank)] = 0;
    }
    indexShape = isElements() ? shape.clone() : indexShape();
    if (isElements()) {
      indexShape[axis] = random.nextInt(6);
    }
    rowsShape = isElements() ? indexShape : rowsShape();
    reduction = isScatter() ? REDUCTIONS[random.nextInt(REDUCTIONS.length)] : Reduction.NONE;
    boolean numbers = Calls.isGradient(operation) || reduction != Reduction.NONE;
    dtype = numbers ? NUMBERS[random.nextInt(4)] : DType.values()[random.nextInt(DType.STRING.ordinal())];
    indexDType = INTEGERS[random.nextInt(INTEGERS.length)];
    Bounds chosen = Bounds.values()[random.nextInt(Bounds.values().length)];
    bounds = chosen == Bounds.FILL && isScatter() ? Bounds.ERROR : chosen;
    negative = Negative.values()[random.nextInt(2)];
    table = values(shape);
    rows = values(rowsShape);
    indices = indices();
    failure = failure();
  }

  /** Returns the case of a seed. Indices of rows without elements are not among the cases. */
  static RandomCase of(long seed) {
    Random random = new Random(seed);
    RandomCase found;
    do {
      found = new RandomCase(random);
    } while (count(found.rowsShape) == 0
        && (!Calls.writesRows(found.operation) || count(found.indexShape) > 0));
    return found;
  }

  private boolean isNd() {
    return operation.name().contains("ND");
  }

  private boolean isElements() {
    return operation.name().contains("ELEMENTS");
  }

  private boolean isScatter() {
    return operation.name().startsWith("SCATTER");
  }

  private static long count(long[] shape) {
    return Arrays.stream(shape).reduce(1, (a, b) -> a * b);
  }

  private long[] indexShape() {
    long[] dims = random.longs(tuples, 0, 5).toArray();
    if (tuples > 0 && random.nextInt(500) == 0) {
      dims[0] = 5000; // Calls with arrays run in parts or on copies.
    }
    long[] tuple = isNd() ? new long[] {components} : new long[0];
    return join(Arrays.copyOf(shape, batch), dims, tuple);
  }

  private long[] rowsShape() {
    long[] dims = Arrays.copyOfRange(indexShape, batch, batch + tuples);
    return join(Arrays.copyOf(shape, axis), dims, Arrays.copyOfRange(shape, axis + components, shape.length));
  }

  private static long[] join(long[]... parts) {
    return Arrays.stream(parts).flatMapToLong(LongStream::of).toArray();
  }

  /** Returns small values, or ones and negative ones, whose products are exact and have no zero with a sign. */
  private long[] values(long[] extents) {
    LongStream found = random.longs(count(extents), -3, 4);
    return (reduction == Reduction.MUL ? found.map(value -> value < 0 ? -1 : 1) : found).toArray();
  }

  /** Returns indices that are valid in most cases. */
  private long[] indices() {
    boolean mayFail = random.nextInt(3) == 0;
    boolean signed = indexDType.ordinal() < DType.UINT8.ordinal();
    long[] found = new long[(int) count(indexShape)];
    for (int i = 0; i < found.length; i++) {
      long size = shape[axis + (isNd() ? i % components : 0)];
      found[i] = size > 0 ? random.nextLong(size) : 0;
      if (signed && negative == Negative.WRAP && random.nextBoolean()) {
        found[i] -= size;
      }
      if (mayFail && random.nextInt(8) == 0) {
        found[i] = random.nextLong(signed ? -2 * size - 1 : 0, 2 * size + 2);
      }
    }
    return found;
  }

  Options.Builder options() {
    Options.Builder options = Options.builder().bounds(bounds).negative(negative).threads(1 + random.nextInt(2));
    if (!isNd() && (axis != batch || random.nextBoolean())) {
      options.axis(random.nextBoolean() ? axis : axis - shape.length);
    }
    if (batch > 0) {
      options.batchDims(batch);
    }
    if (bounds == Bounds.FILL && Calls.writesRows(operation)) {
      byte[] image = new byte[dtype.size()];
      put(MemorySegment.ofArray(image), 0, dtype, FILL);
      options.fillBytes(dtype, image);
    }
    return isScatter() ? options.reduction(reduction) : options;
  }

  // --------------------------------------------------------------------------------------------------- the outcome

  /** Returns the coordinates of an element. */
  private static long[] coordinates(long number, long[] extents) {
    long[] found = new long[extents.length];
    for (int dim = extents.length - 1; dim >= 0; dim--) {
      found[dim] = number % extents[dim];
      number /= extents[dim];
    }
    return found;
  }

  private static int number(long[] coordinates, long[] extents) {
    long number = 0;
    for (int dim = 0; dim < extents.length; dim++) {
      number = number * extents[dim] + coordinates[dim];
    }
    return (int) number;
  }

  /** Returns the position of the tuple of an element of the rows. */
  private int position(long[] at) {
    if (isElements()) {
      return number(at, indexShape);
    }
    long[] tuple = join(Arrays.copyOf(at, batch), Arrays.copyOfRange(at, axis, axis + tuples));
    return number(tuple, Arrays.copyOf(indexShape, batch + tuples));
  }

  /** Returns what an index selects in a dim, or -1. */
  private long select(long index, long size) {
    long value = negative == Negative.WRAP && index < 0 ? index + size : index;
    if (value >= 0 && value < size) {
      return value;
    }
    if (size > 0 && bounds == Bounds.CLAMP) {
      return Math.clamp(value, 0, size - 1);
    }
    return size > 0 && bounds == Bounds.MODULO ? Math.floorMod(value, size) : -1;
  }

  private long index(int position, int component) {
    return indices[isNd() ? position * components + component : position];
  }

  /** Returns the number of the element of the table that belongs to an element of the rows, or -1. */
  private int place(int row) {
    long[] at = coordinates(row, rowsShape);
    long[] selected = new long[components];
    for (int i = 0; i < components; i++) {
      selected[i] = select(index(position(at), i), shape[axis + i]);
      if (selected[i] < 0) {
        return -1;
      }
    }
    int rest = isElements() ? axis + 1 : axis + tuples;
    return number(join(Arrays.copyOf(at, axis), selected, Arrays.copyOfRange(at, rest, at.length)), shape);
  }

  private ErrorDetails failure() {
    if (bounds == Bounds.FILL || bounds == Bounds.SKIP) {
      return null;
    }
    int first = Integer.MAX_VALUE;
    for (int row = 0; row < rows.length; row++) {
      first = place(row) < 0 ? Math.min(first, position(coordinates(row, rowsShape))) : first;
    }
    for (int i = 0; first < Integer.MAX_VALUE && i < components; i++) {
      long size = shape[axis + i];
      if (select(index(first, i), size) < 0) {
        boolean wraps = negative == Negative.WRAP;
        long index = index(first, i);
        return new ErrorDetails(Status.INDEX, OperandName.INDICES, i, first, index, size, -1, wraps, false, 0);
      }
    }
    return null;
  }

  /** Returns true if an error may leave a part of the results. */
  boolean isPartial() {
    return bounds == Bounds.ERROR_PARTIAL;
  }

  /** Returns the written operand after a successful call. A new output has zeros where a row is skipped. */
  long[] expected(boolean isNew) {
    long[] found = (Calls.writesRows(operation) ? rows : table).clone();
    if ((isNew && Calls.writesRows(operation)) || Calls.isGradient(operation)) {
      Arrays.fill(found, 0);
    }
    for (int row = 0; row < rows.length; row++) {
      int place = place(row);
      if (!Calls.writesRows(operation)) {
        if (place >= 0) {
          found[place] = reduce(found[place], rows[row]);
        }
      } else if (place >= 0 || bounds == Bounds.FILL) {
        found[row] = place >= 0 ? table[place] : FILL;
      }
    }
    return found;
  }

  private long reduce(long target, long update) {
    return switch (Calls.isGradient(operation) ? Reduction.ADD : reduction) {
      case NONE -> update;
      case ADD -> target + update;
      case MUL -> target * update;
      case MAX -> Math.max(target, update);
      case MIN -> Math.min(target, update);
      case MEAN -> throw new AssertionError("the conformance cases have the means");
    };
  }

  // ----------------------------------------------------------------------------------------------------- the memory

  /** Returns the operands: table, indices and rows. They are native or arrays, and strided unless `dense`. */
  Tensor[] operands(Arena arena, boolean dense) {
    return new Tensor[] {
      tensor(arena, dtype, shape, table, dense),
      tensor(arena, indexDType, indexShape, indices, dense),
      tensor(arena, dtype, rowsShape, rows, dense)
    };
  }

  private Tensor tensor(Arena arena, DType type, long[] extents, long[] values, boolean dense) {
    boolean heap = random.nextBoolean();
    boolean strided = !dense && extents.length > 0 && values.length > 0 && random.nextInt(3) == 0;
    long[] strides = strides(extents, type.size());
    long first = 0;
    long bytes = (long) values.length * type.size();
    if (strided) {
      first = random.nextInt(9);
      bytes = first + type.size();
      for (int dim = 0; dim < strides.length; dim++) {
        strides[dim] *= dim == 0 ? 1 + random.nextInt(2) : 1;
        long reach = strides[dim] * (extents[dim] - 1);
        bytes += reach;
        if (random.nextInt(4) == 0) {
          first += reach;
          strides[dim] = -strides[dim];
        }
      }
    }
    MemorySegment memory = heap ? MemorySegment.ofArray(new byte[(int) bytes]) : arena.allocate(bytes, 1);
    memory.fill((byte) 0xa5);
    Tensor tensor = Tensor.of(memory, type, extents);
    return write(strided ? tensor.withStrides(first, strides) : tensor, values);
  }

  static long[] strides(long[] extents, long size) {
    long[] strides = new long[extents.length];
    for (int dim = extents.length - 1; dim >= 0; dim--) {
      strides[dim] = size;
      size *= extents[dim];
    }
    return strides;
  }

  /** Writes values to a tensor. */
  static Tensor write(Tensor tensor, long[] values) {
    long[] strides = tensor.strides == null ? strides(tensor.shape, tensor.dtype.size()) : tensor.strides;
    for (int i = 0; i < values.length; i++) {
      long[] at = coordinates(i, tensor.shape);
      long offset = tensor.offset;
      for (int dim = 0; dim < at.length; dim++) {
        offset += at[dim] * strides[dim];
      }
      put(tensor.segment, offset, tensor.dtype, values[i]);
    }
    return tensor;
  }

  static void put(MemorySegment memory, long at, DType dtype, long value) {
    if (dtype == DType.FLOAT32) {
      memory.set(ValueLayout.JAVA_FLOAT_UNALIGNED, at, (float) value);
    } else if (dtype == DType.FLOAT64) {
      memory.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, at, (double) value);
    } else {
      for (int i = 0; i < dtype.size(); i++) {
        memory.set(ValueLayout.JAVA_BYTE, at + i, (byte) (value >> Math.min(8 * i, 63)));
      }
    }
  }

  @Override
  public String toString() {
    return String.join(
        " ",
        operation + " " + dtype + Arrays.toString(shape) + " by " + indexDType + Arrays.toString(indexShape),
        "axis " + axis + " batch " + batch + " " + bounds + " " + negative + " " + reduction,
        Arrays.toString(indices));
  }
}
