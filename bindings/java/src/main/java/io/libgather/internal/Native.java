package io.libgather.internal;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** Loads the library and links its functions. */
final class Native {
  private static final String ACCESS =
      "libgather calls native code, and this JVM denies it. Start Java with --enable-native-access=io.libgather,"
          + " or with --enable-native-access=ALL-UNNAMED if libgather is on the class path";

  private static final SymbolLookup LIBRARY;

  /** The reason why the library is not loaded, or null. An exception of the initializer would hide the reason. */
  private static final Throwable FAILURE;

  static {
    SymbolLookup library = null;
    Throwable failure = null;
    try {
      library = load();
    } catch (IllegalCallerException e) {
      failure = new IllegalCallerException(ACCESS, e);
    } catch (RuntimeException | UnsatisfiedLinkError e) {
      failure = e;
    }
    LIBRARY = library;
    FAILURE = failure;
  }

  private Native() {}

  /** Throws the reason if the library is not loaded. */
  static void check() {
    if (FAILURE != null) {
      throw unchecked(FAILURE);
    }
  }

  /** Returns a throwable that a caller without checked exceptions can throw. Throws it itself if it is an error. */
  static RuntimeException unchecked(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException known ? known : new IllegalStateException(e);
  }

  static MethodHandle link(String name, FunctionDescriptor descriptor, Linker.Option... options) {
    return link(LIBRARY, name, descriptor, options);
  }

  private static MethodHandle link(
      SymbolLookup library, String name, FunctionDescriptor descriptor, Linker.Option... options) {
    var symbol = library.find(name);
    if (symbol.isEmpty()) {
      throw new UnsatisfiedLinkError("libgather has no function " + name);
    }
    return Linker.nativeLinker().downcallHandle(symbol.get(), descriptor, options);
  }

  /** Returns the library. The system closes it when this class has been unloaded. */
  private static SymbolLookup load() {
    String own = System.getProperty("io.libgather.library");
    if (own != null) {
      return checked(own, open(Path.of(own), "the property io.libgather.library names it"));
    }
    Extraction extraction = Extraction.find();
    if (extraction != null) {
      return extraction.open();
    }
    String name = Extraction.installedName();
    try {
      return checked(name, SymbolLookup.libraryLookup(name, Arena.ofAuto()));
    } catch (IllegalArgumentException e) {
      throw (Error)
          new UnsatisfiedLinkError(
                  "libgather is not found. Add the artifact io.libgather:libgather with the classifier "
                      + Extraction.platform()
                      + ", set -Dio.libgather.library=PATH, or install "
                      + name)
              .initCause(e);
    }
  }

  /** Opens the library at a path. */
  static SymbolLookup open(Path path, String origin) {
    try {
      return SymbolLookup.libraryLookup(path, Arena.ofAuto());
    } catch (IllegalArgumentException e) {
      throw (Error)
          new UnsatisfiedLinkError(
                  path
                      + " cannot be loaded ("
                      + origin
                      + "). Its file system must allow execution (-Dio.libgather.directory=DIRECTORY), and its platform"
                      + " must be "
                      + Extraction.platform())
              .initCause(e);
    }
  }

  /** Returns the library if its ABI number is that of this binding. */
  static SymbolLookup checked(Object origin, SymbolLookup library) {
    int found;
    try {
      found = (int) link(library, "gth_abi_version", FunctionDescriptor.of(JAVA_INT)).invokeExact();
    } catch (Throwable e) {
      throw unchecked(e);
    }
    if (found != Gth.ABI_VERSION) {
      throw new UnsatisfiedLinkError(
          origin + " has ABI " + found + ", and this version of libgather for Java needs ABI " + Gth.ABI_VERSION);
    }
    return library;
  }
}
