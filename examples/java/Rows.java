import io.libgather.DType;
import io.libgather.Gather;
import io.libgather.GatherFailure;
import io.libgather.Packed;
import io.libgather.Params;
import io.libgather.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;

/**
 * Gathers rows of a file: Rows TABLE CODEC COUNT DIM IDS.
 *
 * <p>The file TABLE has COUNT rows of DIM numbers. They are packed rows of CODEC, or float32. The file IDS has int64.
 * Both are little-endian. The rows are written to standard output as float32, and then the rows that one second gathers
 * to standard error.
 */
final class Rows {
  private static MemorySegment map(Arena arena, String path) throws IOException {
    try (FileChannel file = FileChannel.open(Path.of(path))) {
      return file.map(MapMode.READ_ONLY, 0, file.size(), arena);
    }
  }

  private static Params table(MemorySegment data, String codec, long... shape) {
    return codec.equals("float32")
        ? Tensor.of(data, DType.FLOAT32, shape)
        : Packed.of(codec).data(data).shape(shape).build();
  }

  public static void main(String[] arguments) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      long dim = Long.parseLong(arguments[3]);
      Params params = table(map(arena, arguments[0]), arguments[1], Long.parseLong(arguments[2]), dim);
      MemorySegment ids = map(arena, arguments[4]);
      long count = ids.byteSize() / 8;
      MemorySegment rows = arena.allocate(4 * dim * count, 64);
      long fastest = Long.MAX_VALUE; // Other programs disturbed the fastest call least.
      for (int call = 0; call < 50; call++) {
        long begin = System.nanoTime();
        Gather.gatherInto(Tensor.of(rows, DType.FLOAT32, count, dim), params, Tensor.of(ids, DType.INT64, count));
        fastest = Math.min(fastest, System.nanoTime() - begin);
      }
      System.out.write(rows.toArray(ValueLayout.JAVA_BYTE));
      System.out.flush();
      System.err.printf("%.0f%n", 1e9 * count / fastest);
    } catch (RuntimeException e) {
      if (!(e instanceof GatherFailure)) {
        throw e;
      }
      System.err.println("Rows: " + e.getMessage());
      System.exit(1);
    }
  }
}
