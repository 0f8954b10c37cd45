package io.libgather;

import static io.libgather.Given.given;
import static io.libgather.Given.text;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.libgather.internal.Gth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The calls of the library: one method for each form of a request. */
final class Calls {
  private static final DType[] DTYPES = DType.values();

  private Calls() {}

  static MemorySegment context(Options options) {
    return options.context == null ? MemorySegment.NULL : options.context.handle;
  }

  private static void checkGiven(Operation operation, Role role, Params operand) {
    if (operand == null) {
      given(operand, text(operation.kind.name(role)));
    }
  }

  static boolean writesRows(Operation operation) {
    return operation.kind.written == Role.ROWS;
  }

  static boolean isGradient(Operation operation) {
    return operation.kind == Kind.GRADIENT;
  }

  /** Runs an operation on existing memory. */
  static void run(Operation operation, Params params, Tensor indices, Tensor rows, Options options) {
    checkGiven(operation, Role.TABLE, params);
    checkGiven(operation, Role.INDICES, indices);
    given(rows, isGradient(operation) ? "gradient" : text(operation.kind.name(Role.ROWS)));
    given(options, "options");
    if (!(params instanceof Tensor table)) {
      runOnCopies(operation, Map.of(Role.TABLE, params, Role.INDICES, indices, Role.ROWS, rows), options);
      return;
    }
    if (table.isOnHeap() || indices.isOnHeap() || rows.isOnHeap()) {
      runOnHeap(operation, table, indices, rows, options);
      return;
    }
    Scratch scratch = Scratch.take();
    try {
      int status =
          Gth.run(
              context(options),
              operation.number,
              scratch.describe(Role.TABLE, table),
              scratch.describe(Role.INDICES, indices),
              scratch.describe(Role.ROWS, rows),
              scratch.describe(options),
              scratch.error,
              table.segment,
              indices.segment,
              rows.segment);
      if (status != 0) {
        throw scratch.failure(status);
      }
    } finally {
      scratch.give();
    }
  }

  /** Runs an operation with arrays. A description cannot name an array, so a plan passes them. */
  private static void runOnHeap(Operation operation, Tensor table, Tensor indices, Tensor rows, Options options) {
    long tableBytes = table.segment.byteSize();
    long indexBytes = indices.segment.byteSize();
    long rowBytes = rows.segment.byteSize();
    boolean known = tableBytes > 0 && indexBytes > 0 && rowBytes > 0; // A description of 0 bytes has an unknown size.
    long zeroed = isGradient(operation) ? tableBytes : 0;
    if (known && zeroed <= Heap.ROW_BYTES && Heap.isShort(indices.dtype, indexBytes, rowBytes)) {
      runShort(operation, table, indices, rows, options);
      return;
    }
    if (isGradient(operation)) { // Gradients have no plan.
      runOnCopies(operation, Map.of(Role.TABLE, table, Role.INDICES, indices, Role.ROWS, rows), options);
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      Plan plan = Plan.create(arena, operation, table, indices, rows, options);
      if ((writesRows(operation) ? rows : table).readOnly) {
        throw Heap.readOnly(operation);
      }
      plan.run(table.segment, indices.segment, rows.segment);
    }
  }

  /** Runs an operation with operands of any roles. Operands that are arrays are copied to native memory. */
  private static void runOnCopies(Operation operation, Map<Role, Params> operands, Options options) {
    Role written = operation.kind.written;
    Tensor out = (Tensor) operands.get(written);
    Map<Role, Params> copies = new EnumMap<>(operands);
    try (Arena arena = Arena.ofConfined()) {
      copies.remove(written);
      copies.replaceAll((role, each) -> each.copied(arena));
      Heap.write(
          arena,
          out.segment,
          out.grain(),
          memory -> {
            copies.put(written, out.over(memory));
            runRequest(operation, copies, options);
            checkOverlap(operation, operands);
          });
    }
  }

  /** Returns the memory that a call with these operands uses. */
  static MemorySegment[] kept(Iterable<? extends Params> operands) {
    List<MemorySegment> kept = new ArrayList<>();
    for (Params each : operands) {
      each.keep(kept);
    }
    return kept.toArray(MemorySegment[]::new);
  }

  private static void checkOverlap(Operation operation, Map<Role, Params> operands) {
    Role written = operation.kind.written;
    Tensor out = (Tensor) operands.get(written);
    MemorySegment used = out.used();
    for (Role role : Role.ALL) {
      Params each = operands.get(role);
      if (each != null && role != written) {
        Heap.checkOverlap(operation, used, role, each.used());
      }
    }
  }

  /** Runs an operation with operands of any roles in native memory. */
  private static void runRequest(Operation operation, Map<Role, Params> operands, Options options) {
    MemorySegment[] memory = kept(operands.values());
    Scratch scratch = Scratch.take();
    try {
      operands.forEach(scratch::describe);
      MemorySegment request = scratch.request(operation, options);
      int status = Gth.runRequest(context(options), request, scratch.error, memory);
      if (status != 0) {
        throw scratch.failure(status);
      }
    } finally {
      scratch.give();
    }
  }

  /** Runs an operation on a few rows of arrays. The collector waits until the call has ended. */
  private static void runShort(Operation operation, Tensor table, Tensor indices, Tensor rows, Options options) {
    Scratch scratch = Scratch.take();
    try {
      scratch.describe(Role.TABLE, table);
      scratch.describe(Role.INDICES, indices);
      scratch.describe(Role.ROWS, rows);
      MemorySegment request = scratch.request(operation, options);
      int status =
          Gth.runAtCritical(
              context(options), request, table.segment, indices.segment, rows.segment, scratch.error);
      if (status != 0) {
        throw scratch.failure(status);
      }
    } finally {
      scratch.give();
    }
  }

  /** Runs a gather into new memory of an arena. */
  static Tensor gather(Arena arena, Operation operation, Params params, Tensor indices, Options options) {
    Tensor rows = infer(operation, operands(params, indices), options);
    Tensor out = zeros(arena, rows.dtype, rows.shape);
    run(operation, params, indices, out, options);
    return out;
  }

  /** Pools bags into new memory of an arena. bags and weights may be null. */
  static Tensor gatherBags(
      Arena arena, Params params, Tensor indices, Tensor bags, Tensor weights, Options options) {
    Tensor rows = infer(Operation.GATHER_BAGS, bagOperands(params, indices, bags, weights), options);
    Tensor out = zeros(arena, rows.dtype, rows.shape);
    gatherBags(out, params, indices, bags, weights, options);
    return out;
  }

  /** Pools bags into existing memory. bags and weights may be null. */
  static void gatherBags(
      Tensor out, Params params, Tensor indices, Tensor bags, Tensor weights, Options options) {
    if (bags == null && weights == null) {
      run(Operation.GATHER_BAGS, params, indices, out, options);
      return;
    }
    Map<Role, Params> operands = bagOperands(params, indices, bags, weights);
    operands.put(Role.ROWS, given(out, "out"));
    given(options, "options");
    runOnCopies(Operation.GATHER_BAGS, operands, options);
  }

  static Map<Role, Params> operands(Params params, Tensor indices) {
    return new EnumMap<>(Map.of(Role.TABLE, given(params, "params"), Role.INDICES, given(indices, "indices")));
  }

  static Map<Role, Params> bagOperands(Params params, Tensor indices, Tensor bags, Tensor weights) {
    Map<Role, Params> operands = operands(params, indices);
    if (bags != null) {
      operands.put(Role.BAGS, bags);
    }
    if (weights != null) {
      operands.put(Role.WEIGHTS, weights);
    }
    return operands;
  }

  /** Returns the shape of the output of gatherBags without weights. bags may be null. */
  static long[] bagsShape(Tensor params, Tensor indices, Tensor bags, Options options) {
    return infer(Operation.GATHER_BAGS, bagOperands(params, indices, bags, null), options).shape;
  }

  /** Computes a gradient of gatherBags, or positions, in new memory. */
  static Tensor newResult(ResultCall call, DType dtype, long[] shape) {
    Tensor out = zeros(Arena.ofAuto(), dtype, shape);
    call.run(out);
    return out;
  }

  /** Copies a target to new memory of an arena, and runs a scatter on the copy. */
  static Tensor scatter(
      Arena arena, Operation operation, Tensor target, Tensor indices, Tensor updates, Options options) {
    given(indices, "indices");
    given(updates, "updates");
    given(options, "options");
    Tensor out = zeros(arena, given(target, "target").dtype, target.shape);
    copy(target, out);
    run(operation, out, indices, updates, options);
    return out;
  }

  /** Runs a gradient into new memory of an arena. */
  static Tensor gradient(
      Arena arena, Operation operation, Tensor gradient, Tensor indices, long[] shape, Options options) {
    Tensor out = zeros(arena, given(gradient, "gradient").dtype, given(shape, "shape"));
    run(operation, out, indices, gradient, options);
    return out;
  }

  private static Tensor zeros(Arena arena, DType dtype, long[] shape) {
    long bytes = dtype.size();
    for (long extent : shape) { // The library reports an invalid extent, and a product that is too large.
      bytes = extent <= 0 || bytes > Long.MAX_VALUE / extent ? 0 : bytes * extent;
    }
    return Tensor.of(arena.allocate(bytes, 64), dtype, shape);
  }

  /** Copies the elements of a tensor to another one with the same dtype and shape. */
  static void copy(Tensor source, Tensor destination) {
    given(source, "source");
    given(destination, "destination");
    try (Arena arena = Arena.ofConfined()) {
      Tensor from = source.over(Heap.copied(arena, source.segment));
      Heap.write(
          arena,
          destination.segment,
          destination.grain(),
          memory -> {
            copyNative(from, destination.over(memory));
            MemorySegment written = destination.used();
            Heap.checkOverlap(Operation.GATHER, written, Role.TABLE, source.used());
          });
    }
  }

  private static void copyNative(Tensor source, Tensor destination) {
    Scratch scratch = Scratch.take();
    try {
      int status =
          Gth.copy(
              MemorySegment.NULL,
              scratch.describe(Role.TABLE, source),
              scratch.describe(Role.ROWS, destination),
              scratch.error,
              source.segment,
              destination.segment);
      if (status != 0) {
        throw scratch.failure(status);
      }
    } finally {
      scratch.give();
    }
  }

  /** Returns the dtype and the shape of the rows of a request, without memory. */
  static Tensor infer(Operation operation, Map<Role, Params> operands, Options options) {
    given(options, "options");
    Scratch scratch = Scratch.take();
    try {
      operands.forEach(scratch::describe);
      MemorySegment request = scratch.request(operation, options);
      scratch.result.set(JAVA_INT, Gth.TensorDesc.SIZE, (int) Gth.TensorDesc.BYTES);
      MemorySegment handle = operands.get(Role.TABLE).handle();
      int status = Gth.infer(request, scratch.result, Gth.MAX_NDIM, scratch.shape, scratch.error, handle);
      if (status != 0) {
        throw scratch.failure(status);
      }
      return Tensor.shaped(dtype(scratch.result.get(JAVA_INT, Gth.TensorDesc.DTYPE)), shape(scratch));
    } finally {
      scratch.give();
    }
  }

  private static DType dtype(int number) {
    for (DType each : DTYPES) {
      if (each.number == number) {
        return each;
      }
    }
    throw new AssertionError("no dtype has the number " + number);
  }

  /** Returns the shape that a query has written. */
  static long[] shape(Scratch scratch) {
    int rank = scratch.result.get(JAVA_INT, Gth.TensorDesc.NDIM);
    return scratch.shape.asSlice(0, 8L * rank).toArray(ValueLayout.JAVA_LONG);
  }
}
