package io.libgather;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.libgather.internal.Gth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.stream.LongStream;

/**
 * A gather or a scatter whose shapes and options are validated once, for many runs.
 *
 * <p>One extent may be {@link #OPEN}: an extent of the tuples, or the outermost dim that params and indices share. Each
 * run then gives its value. A plan is valid until its arena is closed. It is immutable, and threads may share it if
 * they may use its arena. Plans without an arena are released by the garbage collector, which does not count their
 * native memory of about nine kilobytes each. So create a plan once for many runs, or in an arena.
 *
 * <p>Memory of a run may be native or an array ({@link MemorySegment#ofArray(float[])}). The garbage collector waits
 * while the library uses an array. So a large run with arrays first validates all indices and then runs in pieces. Some
 * runs have no pieces: those with an axis or batch dims other than 0, and those with strided indices or rows. They copy
 * the arrays, and write back only the elements that change.
 *
 * <pre>{@code
 * Plan plan = Plan.gather(Tensor.shaped(DType.FLOAT32, 4, 2), Tensor.shaped(DType.INT64, Plan.OPEN), Options.DEFAULT);
 * float[] rows = new float[2 * ids.length];
 * plan.run(ids.length, MemorySegment.ofArray(table), MemorySegment.ofArray(ids), MemorySegment.ofArray(rows));
 * }</pre>
 */
public final class Plan {
  /** An extent that each run sets. */
  public static final long OPEN = Gth.OPEN;

  private final MemorySegment handle;
  private final MemorySegment context;
  private final Operation operation;
  private final Tensor table;
  private final Tensor indices;

  /** The rows, or null if they are dense. */
  private final Tensor rows;

  private final Options options;

  /** The bytes of the last run. Threads may exchange it without order. */
  private Extents last;

  /** A plan that runs the pieces of this one, or null. Threads may create it more than once. */
  private Plan pieces;

  /**
   * The bytes that a run uses of each operand.
   *
   * @param n the open extent, or {@link #OPEN} if the plan has none
   * @param table bytes of params or of the target
   * @param indices bytes of indices
   * @param rows bytes of the output or of the updates
   */
  public record Extents(long n, long table, long indices, long rows) {}

  private Plan(MemorySegment handle, Operation operation, Tensor table, Tensor indices, Tensor rows, Options options) {
    this.handle = handle;
    this.context = Calls.context(options);
    this.operation = operation;
    this.table = table;
    this.indices = indices;
    this.rows = rows;
    this.options = options;
  }

  /**
   * Creates a plan of {@link Gather#gather}.
   *
   * @param params describes params; its memory is not read
   * @param indices describes indices
   * @param options the options
   * @return a plan
   * @throws GatherArgumentException if shapes, dtypes or options are invalid
   */
  public static Plan gather(Tensor params, Tensor indices, Options options) {
    return create(Arena.ofAuto(), Operation.GATHER, params, indices, null, options);
  }

  /**
   * Creates a plan of {@link Gather#gatherNd}.
   *
   * @param params describes params; its memory is not read
   * @param indices describes indices
   * @param options the options
   * @return a plan
   * @throws GatherArgumentException if shapes, dtypes or options are invalid
   */
  public static Plan gatherNd(Tensor params, Tensor indices, Options options) {
    return create(Arena.ofAuto(), Operation.GATHER_ND, params, indices, null, options);
  }

  /**
   * Creates a plan of {@link Gather#gatherElements}.
   *
   * @param params describes params; its memory is not read
   * @param indices describes indices
   * @param options the options
   * @return a plan
   * @throws GatherArgumentException if shapes, dtypes or options are invalid
   */
  public static Plan gatherElements(Tensor params, Tensor indices, Options options) {
    return create(Arena.ofAuto(), Operation.GATHER_ELEMENTS, params, indices, null, options);
  }

  /**
   * Creates a plan of any gather or scatter in an arena. Closing the arena releases the plan.
   *
   * @param arena the arena
   * @param operation a gather or a scatter; a scatter writes its target in place
   * @param table describes params or the target
   * @param indices describes indices
   * @param rows describes the output or the updates; null if they are dense
   * @param options the options
   * @return a plan
   * @throws GatherArgumentException if shapes, dtypes or options are invalid
   * @throws GatherUnsupportedException if the operation is a gradient
   */
  public static Plan create(
      Arena arena, Operation operation, Tensor table, Tensor indices, Tensor rows, Options options) {
    MemorySegment handle =
        Handles.create(
            arena,
            Gth::planRelease,
            scratch -> {
              scratch.describe(Role.TABLE, table);
              scratch.describe(Role.INDICES, indices);
              if (rows != null) {
                scratch.describe(Role.ROWS, rows);
              }
              MemorySegment request = scratch.request(operation, table.dtype, options);
              return Gth.planCreate(request, scratch.out, scratch.error);
            });
    return new Plan(handle, operation, table, indices, rows, options);
  }

  /**
   * Runs a plan without an open extent.
   *
   * @param table params, or the target, which is written
   * @param indices indices
   * @param rows the output, which is written, or the updates
   * @throws GatherIndexException if an index is out of bounds. Nothing is written, except with {@link
   *     Bounds#ERROR_PARTIAL}.
   * @throws GatherArgumentException if a segment is too small or read-only, or the output overlaps another operand
   * @throws GatherStateException if another thread changes indices during the run
   */
  public void run(MemorySegment table, MemorySegment indices, MemorySegment rows) {
    run(OPEN, table, indices, rows);
  }

  /**
   * Runs a plan.
   *
   * @param n the open extent
   * @param table params, or the target, which is written
   * @param indices indices
   * @param rows the output, which is written, or the updates
   * @throws GatherIndexException if an index is out of bounds. Nothing is written, except with {@link
   *     Bounds#ERROR_PARTIAL}.
   * @throws GatherArgumentException if n is invalid, a segment is too small or read-only, or operands overlap
   * @throws GatherStateException if another thread changes indices during the run
   */
  public void run(long n, MemorySegment table, MemorySegment indices, MemorySegment rows) {
    Extents extents = extents(n);
    if (table.byteSize() < extents.table || indices.byteSize() < extents.indices || rows.byteSize() < extents.rows) {
      throw tooSmall(extents, table, indices, rows);
    }
    if ((Calls.writesRows(operation) ? rows : table).isReadOnly()) {
      throw Heap.readOnly(operation);
    }
    if (table.isNative() && indices.isNative() && rows.isNative()) {
      runOnce(n, table, indices, rows, false);
    } else if (Heap.isShort(this.indices.dtype, extents.indices, extents.rows)) {
      runOnce(n, table, indices, rows, true);
    } else {
      checkOverlap(extents, table, indices, rows);
      if (splits()) {
        runInPieces(extents, table, indices, rows);
      } else {
        runOnCopies(extents, table, indices, rows);
      }
    }
  }

  private void checkOverlap(Extents extents, MemorySegment table, MemorySegment indices, MemorySegment rows) {
    MemorySegment tableUsed = this.table.used(table, extents.n);
    MemorySegment rowsUsed = this.rows == null ? rows.asSlice(0, extents.rows) : this.rows.used(rows, extents.n);
    MemorySegment indicesUsed = this.indices.used(indices, extents.n);
    boolean gathers = Calls.writesRows(operation);
    MemorySegment written = gathers ? rowsUsed : tableUsed;
    Role read = gathers ? Role.TABLE : Role.ROWS;
    Heap.checkOverlap(operation, written, read, gathers ? tableUsed : rowsUsed);
    Heap.checkOverlap(operation, written, Role.INDICES, indicesUsed);
  }

  private void runOnce(
      long n, MemorySegment table, MemorySegment indices, MemorySegment rows, boolean critical) {
    Scratch scratch = Scratch.take();
    try {
      int status =
          critical
              ? Gth.planRunCritical(context, handle, n, table, indices, rows, scratch.error)
              : Gth.planRun(context, handle, n, table, indices, rows, scratch.error);
      if (status != 0) {
        throw scratch.failure(status);
      }
    } finally {
      scratch.give();
    }
  }

  /** Runs parts of the tuples. All indices are copied and validated before the first part is written. */
  private void runInPieces(Extents extents, MemorySegment table, MemorySegment indices, MemorySegment rows) {
    Plan plan = pieces();
    long count = items(extents.n);
    long indexBytes = extents.indices / count;
    long rowBytes = extents.rows / count;
    long most = Heap.INDICES * this.indices.dtype.size();
    long step = Math.max(1, Math.min(most / Math.max(indexBytes, 1), Heap.ROW_BYTES / Math.max(rowBytes, 1)));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocate(extents.indices, 64).copyFrom(indices.asSlice(0, extents.indices));
      checkNative(extents.n, copy);
      for (long i = 0; i < count; i += step) {
        long n = Math.min(step, count - i);
        plan.runOnce(
            n,
            table,
            copy.asSlice(i * indexBytes, n * indexBytes),
            rows.asSlice(i * rowBytes, n * rowBytes),
            true);
      }
    }
  }

  private Plan pieces() {
    Plan plan = pieces;
    if (plan == null) {
      long[] shape = LongStream.concat(LongStream.of(OPEN), Arrays.stream(indices.shape).skip(tupleDims())).toArray();
      plan = create(Arena.ofAuto(), operation, table, Tensor.shaped(indices.dtype, shape), null, options);
      pieces = plan;
    }
    return plan;
  }

  /** Returns the number of dims of indices over which a run is divided. */
  private int tupleDims() {
    return isElements() ? 1 : indices.shape.length - (isNd() ? 1 : 0);
  }

  /** Returns the number of items of which a piece has at least one: tuples, or the outermost slices of elements. */
  private long items(long n) {
    LongStream extents = Arrays.stream(indices.shape, 0, tupleDims());
    return extents.map(extent -> extent == OPEN ? n : extent).reduce(1, (a, b) -> a * b);
  }

  private boolean isNd() {
    return operation.hasTuples;
  }

  private boolean isElements() {
    return operation.isPaired;
  }

  /** Runs the plan on copies of arrays. */
  private void runOnCopies(Extents extents, MemorySegment table, MemorySegment indices, MemorySegment rows) {
    boolean gathers = Calls.writesRows(operation);
    MemorySegment target = table.asSlice(0, extents.table);
    int grain = gathers && this.rows == null ? this.table.dtype.size() : (gathers ? this.rows : this.table).grain();
    MemorySegment out = rows.asSlice(0, extents.rows);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment ids = Heap.copied(arena, indices.asSlice(0, extents.indices));
      MemorySegment read = Heap.copied(arena, gathers ? target : out);
      Heap.write(
          arena,
          gathers ? out : target,
          grain,
          memory -> runOnce(extents.n, gathers ? read : memory, ids, gathers ? memory : read, false));
    }
  }

  /** Returns true if a run is the same as several runs, each with a part of the tuples and of the rows. */
  private boolean splits() {
    boolean dense = indices.isDense() && (rows == null || rows.isDense());
    boolean sums = options.reduces() && (table.dtype == DType.FLOAT16 || table.dtype == DType.BFLOAT16);
    long axis = options.axis().orElse(0);
    boolean outermost = isNd() || axis == 0 || axis == -table.shape.length;
    boolean tableOpen = Arrays.stream(table.shape).anyMatch(extent -> extent == OPEN);
    boolean pools = operation.kind == Kind.BAGS;
    boolean oneBatch = options.batchDims() == 0 && !tableOpen;
    return dense && !sums && !pools && outermost && oneBatch && (!isElements() || hasShortSlices());
  }

  /** Returns true if an outermost slice of indices has the size of a piece. */
  private boolean hasShortSlices() {
    long[] inner = Arrays.stream(indices.shape).skip(1).toArray();
    boolean open = Arrays.stream(inner).anyMatch(extent -> extent == OPEN);
    return !open && indices.shape.length > 0 && Arrays.stream(inner).reduce(1, Math::multiplyExact) <= Heap.INDICES;
  }

  /**
   * Validates indices and does nothing else.
   *
   * @param n the open extent, or {@link #OPEN} if the plan has none
   * @param indices indices
   * @throws GatherIndexException if an index is out of bounds and the policy is {@link Bounds#ERROR}
   */
  public void check(long n, MemorySegment indices) {
    try (Arena arena = Arena.ofConfined()) {
      checkNative(n, Heap.copied(arena, indices));
    }
  }

  private void checkNative(long n, MemorySegment indices) {
    Scratch scratch = Scratch.take();
    try {
      MemorySegment args = scratch.args;
      args.set(JAVA_INT, Gth.PlanArgs.FLAGS, Gth.ARGS_EXTENTS);
      args.set(JAVA_LONG, Gth.PlanArgs.N, n);
      args.set(JAVA_LONG, Gth.PlanArgs.INDICES, indices.address());
      args.set(JAVA_LONG, Gth.PlanArgs.INDICES_EXTENT, indices.byteSize());
      int status = Gth.planCheck(context, handle, args, scratch.error, indices);
      if (status != 0) {
        throw scratch.failure(status);
      }
    } finally {
      scratch.give();
    }
  }

  /**
   * Returns the bytes that a run uses.
   *
   * @param n the open extent, or {@link #OPEN} if the plan has none
   * @return the bytes of each operand
   * @throws GatherArgumentException if n is invalid
   */
  public Extents extents(long n) {
    Extents known = last;
    if (known != null && known.n == n) {
      return known;
    }
    Scratch scratch = Scratch.take();
    try {
      MemorySegment args = scratch.args;
      args.set(JAVA_INT, Gth.PlanArgs.FLAGS, 0);
      args.set(JAVA_LONG, Gth.PlanArgs.N, n);
      int status = Gth.planExtents(handle, args, scratch.error);
      if (status != 0) {
        throw scratch.failure(status);
      }
      known =
          new Extents(
              n,
              args.get(JAVA_LONG, Gth.PlanArgs.TABLE_EXTENT),
              args.get(JAVA_LONG, Gth.PlanArgs.INDICES_EXTENT),
              args.get(JAVA_LONG, Gth.PlanArgs.ROWS_EXTENT));
      last = known;
      return known;
    } finally {
      scratch.give();
    }
  }

  /**
   * Returns the shape of the output of a gather, or of the updates of a scatter.
   *
   * @param n the open extent, or {@link #OPEN}, which is passed through
   * @return the extents
   * @throws GatherArgumentException if n is invalid
   */
  public long[] outputShape(long n) {
    Scratch scratch = Scratch.take();
    try {
      scratch.result.set(JAVA_INT, Gth.TensorDesc.SIZE, (int) Gth.TensorDesc.BYTES);
      int status = Gth.planInfer(handle, n, scratch.result, Gth.MAX_NDIM, scratch.shape, scratch.error);
      if (status != 0) {
        throw scratch.failure(status);
      }
      return Calls.shape(scratch);
    } finally {
      scratch.give();
    }
  }

  private RuntimeException tooSmall(Extents extents, MemorySegment table, MemorySegment indices, MemorySegment rows) {
    if (table.byteSize() < extents.table) {
      return tooSmall(Role.TABLE, table.byteSize(), extents.table);
    }
    if (indices.byteSize() < extents.indices) {
      return tooSmall(Role.INDICES, indices.byteSize(), extents.indices);
    }
    return tooSmall(Role.ROWS, rows.byteSize(), extents.rows);
  }

  private RuntimeException tooSmall(Role role, long given, long needed) {
    OperandName name = operation.kind.name(role);
    return ErrorDetails.of(Status.SIZE, name, given, needed)
        .exception(name + " has " + given + " bytes, and the run needs " + needed);
  }
}
