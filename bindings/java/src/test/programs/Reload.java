import java.lang.reflect.Array;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;

/** Loads the library in a class loader, uses its threads, and unloads both. Then it does the same again. */
final class Reload {
  public static void main(String[] arguments) throws Exception {
    URL jar = Path.of(arguments[0]).toUri().toURL();
    for (int round = 0; round < 3; round++) {
      if (use(jar) != 5) {
        throw new AssertionError("another element");
      }
      for (int i = 0; isMapped(); i++) {
        if (i == 200) {
          throw new AssertionError("the library is still mapped");
        }
        System.gc();
        Thread.sleep(20);
      }
    }
  }

  /** Runs a large gather in a new class loader, and returns its last element. */
  private static long use(URL jar) throws Exception {
    try (var loader = new URLClassLoader(new URL[] {jar})) {
      Class<?> tensor = loader.loadClass("io.libgather.Tensor");
      var of = tensor.getMethod("of", long[].class);
      Object table = of.invoke(null, new long[] {5});
      Object ids = of.invoke(null, new long[1 << 20]);
      Class<?> params = loader.loadClass("io.libgather.Params");
      var gather = loader.loadClass("io.libgather.Gather").getMethod("gather", params, tensor);
      Object rows = gather.invoke(null, table, ids);
      if (!isMapped()) {
        throw new AssertionError("the library is not mapped");
      }
      Object elements = tensor.getMethod("toLongArray").invoke(rows);
      loader.loadClass("io.libgather.Capabilities").getMethod("shutdown").invoke(null);
      return Array.getLong(elements, Array.getLength(elements) - 1);
    }
  }

  private static boolean isMapped() throws Exception {
    return Files.readString(Path.of("/proc/self/maps")).contains("libgather");
  }
}
