import io.libgather.BagFormat;
import io.libgather.Gather;
import io.libgather.Options;
import io.libgather.Pool;
import io.libgather.Tensor;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Makes one vector of each sentence: the mean of the vectors of its words. Finds the nearest other words. */
final class Sentences {
  private static final List<String> WORDS =
      List.of("king", "queen", "prince", "dog", "cat", "puppy", "bread", "cheese", "the");
  private static final float[] VECTORS = {
    9, 0, 1, 8, 0, 2, 9, 1, 1, 0, 9, 1, 1, 8, 0, 1, 9, 1, 0, 1, 9, 1, 0, 8, 1, 1, 1
  };

  private static double cosine(float[] means, int sentence, int word) {
    double product = 0;
    double square = 0;
    for (int k = 0; k < 3; k++) {
      float number = VECTORS[3 * word + k];
      product += means[3 * sentence + k] * number;
      square += number * number;
    }
    return product / Math.sqrt(square);
  }

  public static void main(String[] arguments) {
    List<String> sentences = List.of("the king the queen", "the dog");
    long[] ids =
        sentences.stream().flatMap(each -> Arrays.stream(each.split(" "))).mapToLong(WORDS::indexOf).toArray();
    long[] lengths = sentences.stream().mapToLong(each -> each.split(" ").length).toArray();
    Tensor table = Tensor.of(VECTORS, 9, 3);
    Options options = Options.builder().bagFormat(BagFormat.LENGTHS).pool(Pool.MEAN).build();
    float[] means = Gather.gatherBags(table, Tensor.of(ids), Tensor.of(lengths), options).toFloatArray();
    for (int s = 0; s < sentences.size(); s++) {
      int sentence = s;
      List<String> own = List.of(sentences.get(s).split(" "));
      String near =
          WORDS.stream()
              .filter(word -> !own.contains(word))
              .sorted(Comparator.comparingDouble(word -> -cosine(means, sentence, WORDS.indexOf(word))))
              .limit(2)
              .collect(Collectors.joining(", "));
      System.out.printf(
          "%s: %.2f %.2f %.2f, near %s%n", sentences.get(s), means[3 * s], means[3 * s + 1], means[3 * s + 2], near);
    }
  }
}
