package io.libgather;

import static io.libgather.Given.given;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.libgather.internal.Gth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * A gradient of gatherBags, or the positions of the maxima of gatherBags or a scatter. None of them is an operation.
 * Operands that are arrays are copied to native memory.
 */
final class ResultCall {
  private final Operation operation;
  private final Map<Role, Params> operands;
  private final Result result;
  private final Options options;

  private enum Result {
    PARAMS,
    WEIGHTS,
    POSITIONS,
    SCATTER_POSITIONS
  }

  private ResultCall(Operation operation, Map<Role, Params> operands, Result result, Options options) {
    this.operation = operation;
    this.operands = operands;
    this.result = result;
    this.options = options;
  }

  /** Returns the call for the operands of a forward call, with the gradient of its output. */
  static ResultCall of(
      boolean ofWeights,
      Tensor gradient,
      Tensor params,
      Tensor indices,
      Tensor bags,
      Tensor weights,
      Options options) {
    Map<Role, Params> operands = Calls.bagOperands(params, indices, bags, weights);
    operands.put(Role.ROWS, given(gradient, "gradient"));
    Result result = ofWeights ? Result.WEIGHTS : Result.PARAMS;
    return new ResultCall(Operation.GATHER_BAGS, operands, result, given(options, "options"));
  }

  /** Returns the call that finds the positions of the maxima or minima of a forward call. */
  static ResultCall ofPositions(Tensor params, Tensor indices, Tensor bags, Options options) {
    Map<Role, Params> operands = Calls.bagOperands(params, indices, bags, null);
    return new ResultCall(Operation.GATHER_BAGS, operands, Result.POSITIONS, given(options, "options"));
  }

  /** Returns the call that finds the positions of the maxima or minima of a scatter. */
  static ResultCall ofScatter(Operation scatter, Tensor target, Tensor indices, Tensor updates, Options options) {
    Map<Role, Params> operands = new EnumMap<>(Role.class);
    operands.put(Role.TABLE, given(target, "target"));
    operands.put(Role.INDICES, given(indices, "indices"));
    operands.put(Role.ROWS, given(updates, "updates"));
    return new ResultCall(
        given(scatter, "scatter"), operands, Result.SCATTER_POSITIONS, given(options, "options"));
  }

  /** Writes a dense gradient, or positions. */
  void run(Tensor out) {
    run(null, given(out, "target"));
  }

  /** Writes a sparse gradient if unique is not null. Returns the number of its rows. */
  long run(Tensor unique, Tensor out) {
    long[] count = new long[1];
    try (Arena arena = Arena.ofConfined()) {
      Map<Role, Params> copies = new EnumMap<>(operands);
      copies.replaceAll((role, each) -> each.copied(arena));
      Heap.write(
          arena,
          out.segment,
          out.grain(),
          memory -> {
            Tensor target = out.over(memory);
            if (unique == null) {
              call(copies, null, target);
              checkOverlaps(null, out);
              return;
            }
            Heap.write(
                arena,
                unique.segment,
                unique.grain(),
                ids -> {
                  count[0] = call(copies, unique.over(ids), target);
                  checkOverlaps(unique, out);
                });
          });
    }
    return count[0];
  }

  private void checkOverlaps(Tensor unique, Tensor out) {
    boolean isGradient = result == Result.PARAMS || result == Result.WEIGHTS;
    OperandName written = isGradient ? OperandName.TARGET : OperandName.OUT;
    if (unique != null) {
      checkOverlap(OperandName.TARGET, out, OperandName.OUT, unique);
    }
    operands.forEach(
        (role, each) -> {
          OperandName name = role == Role.ROWS ? OperandName.UPDATES : operation.kind.name(role);
          checkOverlap(written, out, name, each);
          if (unique != null) {
            checkOverlap(OperandName.OUT, unique, name, each);
          }
        });
  }

  private static void checkOverlap(OperandName name, Tensor written, OperandName otherName, Params other) {
    Heap.checkOverlap(name, written.used(), otherName, other.used());
  }

  private long call(Map<Role, Params> read, Tensor unique, Tensor target) {
    List<Params> used = new ArrayList<>(read.values());
    used.addAll(List.of(target, unique == null ? target : unique));
    MemorySegment[] kept = Calls.kept(used);
    Scratch scratch = Scratch.take();
    try {
      read.forEach(scratch::describe);
      MemorySegment request = scratch.request(operation, options);
      MemorySegment context = Calls.context(options);
      MemorySegment written = scratch.describeResult(0, target);
      int status;
      if (result == Result.WEIGHTS) {
        status = Gth.gatherBagsWeightGradient(context, request, written, scratch.error, kept);
      } else if (result == Result.POSITIONS) {
        status = Gth.gatherBagsPositions(context, request, written, scratch.error, kept);
      } else if (result == Result.SCATTER_POSITIONS) {
        status = Gth.scatterPositions(context, request, written, scratch.error, kept);
      } else if (unique == null) {
        status = Gth.gatherBagsGradient(context, request, written, scratch.error, kept);
      } else {
        MemorySegment ids = scratch.describeResult(1, unique);
        status = Gth.gatherBagsSparseGradient(context, request, ids, written, scratch.out, scratch.error, kept);
      }
      if (status != 0) {
        throw scratch.failure(status);
      }
      return scratch.out.get(JAVA_LONG, 0);
    } finally {
      scratch.give();
    }
  }
}
