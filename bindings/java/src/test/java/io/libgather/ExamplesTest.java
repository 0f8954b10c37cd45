package io.libgather;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jetbrains.kotlin.cli.common.ExitCode;
import org.jetbrains.kotlin.cli.jvm.K2JVMCompiler;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Compiles and runs the examples, and compares their output with that of the other languages. */
class ExamplesTest {
  private static final Path EXAMPLES = Path.of(System.getProperty("gather.repository"), "examples");
  private static final String CLASSES = System.getProperty("gather.classes");

  @TempDir Path directory;

  @TestFactory
  Stream<DynamicTest> java() throws Exception {
    String compiler = Path.of(System.getProperty("java.home"), "bin/javac").toString();
    List<String> command = new ArrayList<>(List.of(compiler, "-Xlint:all", "-Werror", "-cp", CLASSES));
    command.addAll(List.of("-d", directory.toString()));
    names("java", ".java").forEach(type -> command.add(EXAMPLES.resolve("java").resolve(type + ".java").toString()));
    assertEquals(0, new ProcessBuilder(command).inheritIO().start().waitFor(), "the compiler");
    return names("output", ".txt").stream()
        .map(name -> DynamicTest.dynamicTest(name, () -> compare(name, capitalised(name))));
  }

  private static String capitalised(String name) {
    return name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
  }

  private static List<String> names(String folder, String suffix) throws IOException {
    try (var files = Files.list(EXAMPLES.resolve(folder))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(suffix))
          .map(name -> name.replace(suffix, ""))
          .sorted()
          .toList();
    }
  }

  @Test
  void kotlin() throws Exception {
    ExitCode code =
        new K2JVMCompiler()
            .exec(
                System.err,
                EXAMPLES.resolve("kotlin/Embeddings.kt").toString(),
                "-Werror",
                "-no-stdlib",
                "-cp",
                CLASSES + java.io.File.pathSeparator + System.getProperty("java.class.path"),
                "-d",
                directory.toString());
    assertEquals(ExitCode.OK, code);
    compare("embeddings", "EmbeddingsKt");
  }

  private void compare(String name, String type) throws Exception {
    var printed = new ByteArrayOutputStream();
    PrintStream before = System.out;
    try (var loader = new URLClassLoader(new URL[] {directory.toUri().toURL()})) {
      System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
      var main = loader.loadClass(type).getDeclaredMethod("main", String[].class);
      main.setAccessible(true);
      main.invoke(null, (Object) new String[0]);
    } finally {
      System.setOut(before);
    }
    String expected = Files.readString(EXAMPLES.resolve("output").resolve(name + ".txt"));
    assertEquals(expected, printed.toString(StandardCharsets.UTF_8));
    assertTrue(printed.size() > 0);
  }
}
