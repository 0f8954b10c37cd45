package io.libgather;

import static io.libgather.Given.given;
import static io.libgather.Given.text;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.libgather.internal.Gth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A gather or a scatter whose shapes and options are validated once, for many runs.
 *
 * <p>One extent may be {@link #OPEN}: an extent of the tuples, or the outermost dim that params and indices share. Each
 * run then gives its value. A plan is valid until its arena is closed. It is immutable, and threads may share it if
 * they may use its arena. Plans without an arena are released by the garbage collector, which does not count their
 * native memory of about nine kilobytes each. So create a plan once for many runs, or in an arena.
 *
 * <p>Memory of a run may be native or an array ({@link MemorySegment#ofArray(float[])}). The garbage collector waits
 * while the library uses an array. So a large gather with arrays first validates all indices and then runs in parts. A
 * large scatter and bags with many ids have no parts. They copy the arrays, and write back only the elements that
 * change. So their large operands belong in native memory.
 *
 * <p>If params are {@link Packed} rows or a {@link Table}, runs pass {@link MemorySegment#NULL} for them. After these have been closed,
 * runs throw an IllegalStateException. Such runs copy arrays.
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
  private final Params table;
  private final Tensor indices;

  /** The rows, or null if they are dense. */
  private final Tensor rows;

  /** The bytes of the last run. Threads may exchange it without order. */
  private Extents last;

  /**
   * The bytes that a run uses of each operand.
   *
   * @param n the open extent, or {@link #OPEN} if the plan has none
   * @param table bytes of params or of the target
   * @param indices bytes of indices
   * @param rows bytes of the output or of the updates
   */
  public record Extents(long n, long table, long indices, long rows) {}

  private Plan(MemorySegment handle, Operation operation, Params table, Tensor indices, Tensor rows, Options options) {
    this.handle = handle;
    this.context = Calls.context(options);
    this.operation = operation;
    this.table = table;
    this.indices = indices;
    this.rows = rows;
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
  public static Plan gather(Params params, Tensor indices, Options options) {
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
  public static Plan gatherNd(Params params, Tensor indices, Options options) {
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
  public static Plan gatherElements(Params params, Tensor indices, Options options) {
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
      Arena arena, Operation operation, Params table, Tensor indices, Tensor rows, Options options) {
    given(arena, "arena");
    given(operation, "operation");
    given(table, text(operation.kind.name(Role.TABLE)));
    given(indices, "indices");
    given(options, "options");
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
              MemorySegment request = scratch.request(operation, options);
              return Gth.planCreate(request, scratch.out, scratch.error, table.handle());
            });
    return new Plan(handle, operation, table, indices, rows, options);
  }

  /**
   * Runs a plan without an open extent.
   *
   * @param table params, or the target, which is written; NULL for packed rows and a table
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
   * @param table params, or the target, which is written; NULL for packed rows and a table
   * @param indices indices
   * @param rows the output, which is written, or the updates
   * @throws GatherIndexException if an index is out of bounds. Nothing is written, except with {@link
   *     Bounds#ERROR_PARTIAL}.
   * @throws GatherArgumentException if n is invalid, a segment is too small or read-only, or operands overlap
   * @throws GatherStateException if another thread changes indices during the run
   */
  public void run(long n, MemorySegment table, MemorySegment indices, MemorySegment rows) {
    given(table, "table");
    given(indices, "indices");
    given(rows, "rows");
    Extents extents = extents(n);
    if (table.byteSize() < extents.table || indices.byteSize() < extents.indices || rows.byteSize() < extents.rows) {
      throw tooSmall(extents, table, indices, rows);
    }
    if ((Calls.writesRows(operation) ? rows : table).isReadOnly()) {
      throw Heap.readOnly(operation);
    }
    if (!(this.table instanceof Tensor)) {
      runHandle(extents, table, indices, rows);
    } else if (table.isNative() && indices.isNative() && rows.isNative()) {
      runOnce(n, table, indices, rows, false);
    } else if (Heap.isShort(this.indices.dtype, extents.indices, extents.rows)) {
      runOnce(n, table, indices, rows, true);
    } else {
      runParts(n, 0, 0, table, indices, rows);
      long parts = parts(n);
      if (parts > 1) {
        runInParts(extents, parts, table, indices, rows);
      } else {
        runOnCopies(extents, table, indices, rows);
      }
    }
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

  /** Runs the parts of the plan, each in one short use. All indices are copied and validated before the first one. */
  private void runInParts(
      Extents extents, long parts, MemorySegment table, MemorySegment indices, MemorySegment rows) {
    long step = Math.max(1, Math.min(Heap.INDICES, Heap.ROW_BYTES / Math.max(1, extents.rows / parts)));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocate(extents.indices, 64).copyFrom(indices.asSlice(0, extents.indices));
      checkNative(extents.n, copy);
      for (long first = 0; first < parts; first += step) {
        runParts(extents.n, first, Math.min(parts, first + step), table, copy, rows);
      }
    }
  }

  /** Runs the parts [first, last), or validates the memory if there are none. */
  private void runParts(
      long n, long first, long last, MemorySegment table, MemorySegment indices, MemorySegment rows) {
    Scratch scratch = Scratch.take();
    try {
      int status =
          Gth.planRunPartsCritical(context, handle, n, first, last, table, indices, rows, scratch.error);
      if (status != 0) {
        throw scratch.failure(status);
      }
    } finally {
      scratch.give();
    }
  }

  private long parts(long n) {
    Scratch scratch = Scratch.take();
    try {
      int status = Gth.planParts(handle, n, scratch.out, scratch.error);
      if (status != 0) {
        throw scratch.failure(status);
      }
      return scratch.out.get(JAVA_LONG, 0);
    } finally {
      scratch.give();
    }
  }

  /** Runs the plan on copies of arrays. */
  private void runOnCopies(Extents extents, MemorySegment table, MemorySegment indices, MemorySegment rows) {
    boolean gathers = Calls.writesRows(operation);
    MemorySegment target = table.asSlice(0, extents.table);
    Tensor written = gathers ? this.rows : (Tensor) this.table;
    int grain = written == null ? this.table.dtype().size() : written.grain();
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

  /** Runs the plan on the handle of its params. Arrays are copied, because the call must keep their memory open. */
  private void runHandle(Extents extents, MemorySegment table, MemorySegment indices, MemorySegment rows) {
    if (!table.equals(MemorySegment.NULL)) {
      throw ErrorDetails.of(Status.HANDLE, OperandName.PARAMS, 0, 0)
          .exception("params: the plan has packed rows or a table, so runs pass MemorySegment.NULL");
    }
    int grain = this.rows == null ? this.table.dtype().size() : this.rows.grain();
    MemorySegment ids = indices.asSlice(0, extents.indices);
    MemorySegment out = rows.asSlice(0, extents.rows);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment read = Heap.copied(arena, ids);
      Heap.write(
          arena,
          out,
          grain,
          memory -> {
            runHandle(extents.n, read, memory);
            Heap.checkOverlap(operation, out, Role.INDICES, ids);
          });
    }
  }

  private void runHandle(long n, MemorySegment indices, MemorySegment rows) {
    List<MemorySegment> kept = new ArrayList<>(List.of(indices, rows));
    table.keep(kept);
    Scratch scratch = Scratch.take();
    try {
      MemorySegment args = scratch.args;
      args.set(JAVA_INT, Gth.PlanArgs.FLAGS, 0);
      args.set(JAVA_LONG, Gth.PlanArgs.N, n);
      args.set(JAVA_LONG, Gth.PlanArgs.INDICES, indices.address());
      args.set(JAVA_LONG, Gth.PlanArgs.ROWS, rows.address());
      int status = Gth.planRunArgs(context, handle, args, scratch.error, kept.toArray(MemorySegment[]::new));
      if (status != 0) {
        throw scratch.failure(status);
      }
    } finally {
      scratch.args.set(JAVA_LONG, Gth.PlanArgs.ROWS, 0);
      scratch.give();
    }
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
      checkNative(n, Heap.copied(arena, given(indices, "indices")));
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
        .exception(text(name) + ": memory of " + given + " bytes, needed are " + needed);
  }
}
