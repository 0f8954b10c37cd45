import io.libgather.Bounds;
import io.libgather.Gather;
import io.libgather.GatherIndexException;
import io.libgather.Negative;
import io.libgather.Options;
import io.libgather.Tensor;

/** Shows the meanings of an id out of bounds. An error names the position of the id, and the output is unchanged. */
final class Errors {
  private static final Tensor TABLE = Tensor.of(new float[] {0, 1, 10, 11, 20, 21, 30, 31}, 4, 2);

  private static float[] lookUp(long id, Options options) {
    return Gather.gather(TABLE, Tensor.of(new long[] {0, id}), options).toFloatArray();
  }

  private static void show(String what, long id, Options.Builder options) {
    float[] rows = lookUp(id, options.build());
    System.out.printf("%s: %.0f %.0f%n", what, rows[2], rows[3]);
  }

  public static void main(String[] arguments) {
    try {
      lookUp(4, Options.DEFAULT);
    } catch (GatherIndexException e) {
      System.out.printf("refused: id %d at position %d, of %d rows%n", e.value(), e.position(), e.limit());
    }
    show("from the end", -1, Options.builder().negative(Negative.WRAP));
    show("clamped", 9, Options.builder().bounds(Bounds.CLAMP));
    show("filled", 9, Options.builder().bounds(Bounds.FILL).fillValue(-1f));
  }
}
