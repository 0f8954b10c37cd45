import io.libgather.Gather;
import io.libgather.Options;
import io.libgather.Reduction;
import io.libgather.Tensor;

/** Writes rows into a table by id, in place. The last update of a row remains, or all updates are added. */
final class Scatter {
  public static void main(String[] arguments) {
    float[] table = {0, 1, 10, 11, 20, 21, 30, 31};
    Tensor ids = Tensor.of(new long[] {3, 0, 3});
    Tensor rows = Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 3, 2);
    for (Reduction reduction : new Reduction[] {Reduction.NONE, Reduction.ADD}) {
      Options options = Options.builder().reduction(reduction).build();
      Gather.scatterInto(Tensor.of(table, 4, 2), ids, rows, options);
      for (int i = 0; i < table.length; i += 2) {
        System.out.printf("%.0f %.0f%n", table[i], table[i + 1]);
      }
    }
  }
}
