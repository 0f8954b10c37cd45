import io.libgather.Gather;
import io.libgather.Tensor;

/** Gathers elements by coordinates. Each row of indices is a tuple with one index for each dim. */
final class Coordinates {
  public static void main(String[] arguments) {
    Tensor matrix = Tensor.of(new int[] {0, 1, 2, 10, 11, 12}, 2, 3);
    Tensor at = Tensor.of(new long[] {1, 2, 0, 0}, 2, 2);
    for (int element : Gather.gatherNd(matrix, at).toIntArray()) {
      System.out.println(element);
    }
  }
}
