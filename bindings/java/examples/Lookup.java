import io.libgather.DType;
import io.libgather.GatherFailure;
import io.libgather.Options;
import io.libgather.Plan;
import io.libgather.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;

/**
 * Reads rows of a table by id: java Lookup TABLE DIM IDS.
 *
 * <p>TABLE is a file of float32 rows with DIM elements each. IDS is a file of int64 ids. Both files are little-endian.
 * The program writes the rows to standard output, and the time of a call to standard error.
 */
final class Lookup {
  private static final int ROUNDS = 20_000; // The compiler of the JVM needs many calls.

  private Lookup() {}

  public static void main(String[] arguments) throws IOException {
    if (arguments.length != 3) {
      System.err.println("usage: Lookup TABLE DIM IDS");
      System.exit(2);
    }
    long dim = Long.parseLong(arguments[1]);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment table = map(arena, arguments[0]);
      MemorySegment ids = map(arena, arguments[2]);
      long count = ids.byteSize() / 8;
      Tensor params = Tensor.shaped(DType.FLOAT32, table.byteSize() / 4 / dim, dim);
      Plan plan = Plan.gather(params, Tensor.shaped(DType.INT64, count), Options.DEFAULT);
      MemorySegment rows = arena.allocate(4 * dim * count, 64);
      plan.run(table, ids, rows);
      System.out.write(rows.toArray(ValueLayout.JAVA_BYTE));
      System.out.flush();
      System.err.printf("%d rows, %d ns per call%n", count, fastest(plan, table, ids, rows));
    } catch (RuntimeException e) {
      if (!(e instanceof GatherFailure)) {
        throw e;
      }
      System.err.println("Lookup: " + e.getMessage());
      System.exit(1);
    }
  }

  private static MemorySegment map(Arena arena, String path) throws IOException {
    try (FileChannel file = FileChannel.open(Path.of(path))) {
      return file.map(MapMode.READ_ONLY, 0, file.size(), arena);
    }
  }

  /** Returns the time of the fastest call, because other programs disturbed it least. */
  private static long fastest(Plan plan, MemorySegment table, MemorySegment ids, MemorySegment rows) {
    long fastest = Long.MAX_VALUE;
    for (int i = 0; i < ROUNDS; i++) {
      long start = System.nanoTime();
      plan.run(table, ids, rows);
      fastest = Math.min(fastest, System.nanoTime() - start);
    }
    return fastest;
  }
}
