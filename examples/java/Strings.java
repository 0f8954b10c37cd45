import io.libgather.Operation;
import io.libgather.Options;
import io.libgather.Tensor;
import java.util.List;

/** Gathers strings by id. */
final class Strings {
  public static void main(String[] arguments) {
    var words = io.libgather.Strings.of(List.of("zero", "one", "two", "three"));
    var found = words.make(Operation.GATHER, Tensor.of(new long[] {3, 1}), Options.DEFAULT);
    found.toList().forEach(System.out::println);
  }
}
