package io.libgather.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.SymbolLookup;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/** The library of a natives jar, which is copied to a directory once. */
record Extraction(URL resource, String hash) {
  private static final String FOLDER = "META-INF/libgather/";

  /** Returns the name of the operating system and the processor, as in the classifier of a natives jar. */
  static String platform() {
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).split(" ")[0];
    String processor = System.getProperty("os.arch");
    return system + "-" + (processor.equals("amd64") ? "x86_64" : processor);
  }

  /** Returns the file name of an installed library. The name has the ABI number except on Windows. */
  static String installedName() {
    return switch (System.mapLibraryName("gather")) {
      case "gather.dll" -> "libgather.dll";
      case "libgather.dylib" -> "libgather.1.dylib";
      default -> "libgather.so.1";
    };
  }

  /** Returns the library for this platform, or null if no natives jar is present. */
  static Extraction find() {
    String name = FOLDER + platform() + "/" + System.mapLibraryName("gather");
    ClassLoader loader = Extraction.class.getClassLoader();
    URL resource = loader.getResource(name);
    if (resource == null) {
      return null;
    }
    try (InputStream in = loader.getResourceAsStream(name + ".sha256")) {
      if (in == null) {
        throw new UnsatisfiedLinkError(resource + " has no file .sha256");
      }
      return new Extraction(resource, new String(in.readAllBytes(), StandardCharsets.US_ASCII).strip());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Copies the library to a directory, and loads it. A property names the directory. Without the property, it is the
   * cache of the user. If the library cannot be loaded from the cache, it is a new temporary directory.
   */
  SymbolLookup open() {
    String chosen = System.getProperty("io.libgather.directory");
    if (chosen != null) {
      return open(Path.of(chosen));
    }
    try {
      return open(cache());
    } catch (UncheckedIOException | UnsatisfiedLinkError e) {
      try {
        return open(Files.createTempDirectory("libgather"));
      } catch (IOException second) {
        e.addSuppressed(second);
        throw e;
      } catch (UncheckedIOException | UnsatisfiedLinkError second) {
        second.addSuppressed(e);
        throw second;
      }
    }
  }

  private SymbolLookup open(Path directory) {
    try {
      Path file = extract(directory);
      return Native.checked(file, Native.open(file, "it is a copy of " + resource));
    } catch (IOException e) {
      throw new UncheckedIOException("The library of " + resource + " cannot be copied to " + directory, e);
    }
  }

  private static Path cache() {
    return cache(System.getenv("XDG_CACHE_HOME")).resolve("libgather");
  }

  /** Returns the cache of the user. An empty or relative path means that there is none, as XDG specifies. */
  private static Path cache(String given) {
    Path base = Path.of(given == null ? "" : given);
    return base.isAbsolute() ? base : Path.of(System.getProperty("user.home"), ".cache");
  }

  /** Returns the file with the library. An existing file is used if it has the right hash. */
  private Path extract(Path directory) throws IOException {
    Files.createDirectories(directory);
    Path file = directory.resolve("libgather-" + hash + "-" + System.mapLibraryName("gather"));
    if (Files.exists(file) && hash.equals(hashOf(Files.newInputStream(file)))) {
      return file;
    }
    Path written = Files.createTempFile(directory, "libgather", ".part");
    try (InputStream in = resource.openStream()) {
      Files.copy(in, written, StandardCopyOption.REPLACE_EXISTING);
      String found = hashOf(Files.newInputStream(written));
      if (!found.equals(hash)) {
        throw new UnsatisfiedLinkError(resource + " has the hash " + found + " instead of " + hash);
      }
      return Files.move(written, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(written);
    }
  }

  private static String hashOf(InputStream stream) throws IOException {
    try (var in = new DigestInputStream(stream, MessageDigest.getInstance("SHA-256"))) {
      in.transferTo(OutputStream.nullOutputStream());
      return HexFormat.of().formatHex(in.getMessageDigest().digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
