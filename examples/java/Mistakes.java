import io.libgather.Bounds;
import io.libgather.DType;
import io.libgather.ErrorDetails;
import io.libgather.Gather;
import io.libgather.GatherFailure;
import io.libgather.Negative;
import io.libgather.Options;
import io.libgather.Plan;
import io.libgather.Tensor;
import java.lang.foreign.MemorySegment;

/** Makes each mistake in Java and prints a line with the fields of its error. */
final class Mistakes {
  private static final float[] TABLE = {0, 1, 10, 11, 20, 21, 30, 31};

  private static void line(String mistake, Runnable call) {
    try {
      call.run();
      System.out.println(mistake + "\tGTH_OK");
    } catch (RuntimeException e) {
      ErrorDetails found = ((GatherFailure) e).details();
      System.out.printf(
          "%s\t%d\t%d\t%d\t%d\t%d\t%d%n",
          mistake,
          found.status().number(),
          found.operand().number(),
          found.component(),
          found.position(),
          found.value(),
          found.limit());
    }
  }

  private static Tensor params() {
    return Tensor.of(TABLE, 4, 2);
  }

  private static Tensor ids(long... ids) {
    return Tensor.of(ids);
  }

  private static void select(String mistake, Tensor ids, Options.Builder options) {
    line(mistake, () -> Gather.gather(params(), ids, options.build()));
  }

  private static void from(String mistake, Tensor params) {
    Tensor out = Tensor.of(new float[2], 1, 2);
    line(mistake, () -> Gather.gatherInto(out, params, ids(0), Options.DEFAULT));
  }

  private static void to(String mistake, Tensor out) {
    line(mistake, () -> Gather.gatherInto(out, params(), ids(0, 1, 2), Options.DEFAULT));
  }

  private static void scatter(String mistake, Tensor target, Tensor ids, Tensor updates, Options.Builder options) {
    line(mistake, () -> Gather.scatterInto(target, ids, updates, options.build()));
  }

  public static void main(String[] arguments) {
    select("an index above the range", ids(0, 4, -1), Options.builder());
    select("a negative index", ids(0, -1), Options.builder());
    select("an index below -size with negative = wrap", ids(-5), Options.builder().negative(Negative.WRAP));
    select("an axis outside the rank", ids(0, 1), Options.builder().axis(2));
    select("batch_dims above the rank of indices", ids(0, 1), Options.builder().batchDims(2));
    select("a fill value of another dtype", ids(0, 9), Options.builder().bounds(Bounds.FILL).fillValue((byte) 1));
    select("indices of float32", Tensor.of(new float[1]), Options.builder());
    line("tuples with more components than dims", () -> Gather.gatherNd(params(), Tensor.of(new long[3], 1, 3)));

    from("memory that is too small for its shape", Tensor.of(TABLE, 5, 2));
    from("memory that is larger than its shape needs", Tensor.of(TABLE, 3, 2));
    from("strides that leave the memory", params().withStrides(0, 16, 4));

    float[] both = TABLE.clone();
    Tensor target = Tensor.of(both, 4, 2);
    to("an output of another shape", Tensor.of(both, 2, 2));
    to("an output of another rank", Tensor.of(both, 6));
    to("an output of another dtype", Tensor.of(new int[6], 3, 2));
    line(
        "an output that overlaps params",
        () -> Gather.gatherInto(Tensor.of(both, 3, 2), target, ids(0, 1, 2), Options.DEFAULT));
    to("a read-only output", Tensor.of(both, 3, 2).asReadOnly());

    Plan plan =
        Plan.gather(Tensor.shaped(DType.FLOAT32, 4, 2), Tensor.shaped(DType.INT64, Plan.OPEN), Options.DEFAULT);
    MemorySegment table = MemorySegment.ofArray(TABLE);
    MemorySegment two = MemorySegment.ofArray(new long[] {0, 1});
    MemorySegment rows = MemorySegment.ofArray(both);
    line("a run without a value for its open extent", () -> plan.run(table, two, rows));
    line("a run with memory that is too small", () -> plan.run(2, table.asSlice(0, 28), two, rows));

    Tensor updates = Tensor.of(TABLE, 2, 2);
    scatter("a scatter with an index above the range", target, ids(0, 4), updates, Options.builder());
    scatter("a scatter with bounds = fill", target, ids(0, 1), updates, Options.builder().bounds(Bounds.FILL));
    scatter("updates of another shape", target, ids(0, 1), Tensor.of(TABLE, 3, 2), Options.builder());
    scatter("updates of another dtype", target, ids(0, 1), Tensor.of(new int[4], 2, 2), Options.builder());
    scatter("updates that overlap the target", target, ids(0, 1), Tensor.of(both, 2, 2), Options.builder());
    scatter("a read-only target", params().asReadOnly(), ids(0, 1), updates, Options.builder());
  }
}
