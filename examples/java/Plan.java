import io.libgather.DType;
import io.libgather.Options;
import io.libgather.Tensor;
import java.lang.foreign.MemorySegment;

/** Runs a plan. Shapes and options are validated once. Each run sets the number of ids. */
final class Plan {
  public static void main(String[] arguments) {
    MemorySegment table = MemorySegment.ofArray(new float[] {0, 1, 10, 11, 20, 21, 30, 31});
    Tensor params = Tensor.shaped(DType.FLOAT32, 4, 2);
    Tensor indices = Tensor.shaped(DType.INT64, io.libgather.Plan.OPEN);
    io.libgather.Plan plan = io.libgather.Plan.gather(params, indices, Options.DEFAULT);
    for (long[] ids : new long[][] {{2}, {0, 1, 3}}) {
      float[] rows = new float[2 * ids.length];
      plan.run(ids.length, table, MemorySegment.ofArray(ids), MemorySegment.ofArray(rows));
      for (int i = 0; i < ids.length; i++) {
        System.out.printf("%.0f %.0f%n", rows[2 * i], rows[2 * i + 1]);
      }
    }
  }
}
