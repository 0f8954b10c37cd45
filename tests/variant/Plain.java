import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.libgather.Gather;
import io.libgather.Operation;
import io.libgather.Options;
import io.libgather.Plan;
import io.libgather.Profile;
import io.libgather.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Runs the operation, the profile and the option that __main__.py adds. */
final class Plain {
  private static final float[] EXPECTED = {8, 5, 8};

  private Plain() {}

  private static void check(MemorySegment memory) {
    float[] found = memory.toArray(JAVA_FLOAT);
    if (!Arrays.equals(found, EXPECTED)) {
      throw new AssertionError(Arrays.toString(found));
    }
  }

  public static void main(String[] arguments) {
    Options options = Options.builder().profile(Profile.FRESH).fresh(4).build();
    try (Arena arena = Arena.ofConfined()) {
      Tensor params = Tensor.of(new float[] {3, 5, 8});
      Tensor indices = Tensor.of(new long[] {-1, 1, 7});
      check(Gather.make(arena, Operation.GATHER_AGAIN, params, indices, options).segment());
      MemorySegment out = arena.allocate(12, 4);
      Plan plan = Plan.create(arena, Operation.GATHER_AGAIN, params, indices, null, options);
      plan.run(arena.allocateFrom(JAVA_FLOAT, 3, 5, 8), arena.allocateFrom(JAVA_LONG, -1, 1, 7), out);
      check(out);
      long[] shape = Gather.outputShape(Operation.GATHER_AGAIN, params, indices, options);
      if (!Arrays.equals(shape, new long[] {3})) {
        throw new AssertionError(Arrays.toString(shape));
      }
    }
  }
}
