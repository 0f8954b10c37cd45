import io.libgather.Gather;
import io.libgather.Tensor;

/** Gathers rows of a table by id. */
final class Embeddings {
  public static void main(String[] arguments) {
    Tensor table = Tensor.of(new float[] {0, 1, 10, 11, 20, 21, 30, 31}, 4, 2);
    long[] ids = {3, 0, 3};
    float[] rows = Gather.gather(table, Tensor.of(ids)).toFloatArray();
    for (int i = 0; i < ids.length; i++) {
      System.out.printf("%d: %.0f %.0f%n", ids[i], rows[2 * i], rows[2 * i + 1]);
    }
  }
}
