import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/** Looks up rows of float32 with the structs of release 0.1.0: Lookup LIBRARY. */
final class Lookup {
  static final int OK = 0, E_INDEX = -16, FLOAT32 = 544, INT64 = 64, ABI = 1;

  /** The sizes of gth_tensor_desc and gth_error, and the offsets of their fields. */
  static final int DESC = 80, DTYPE = 4, NDIM = 16, DATA = 32, SHAPE = 40;

  static final int ERROR = 328, STATUS = 4, POSITION = 24, VALUE = 32, LIMIT = 40;

  static MemorySegment desc(Arena arena, int dtype, MemorySegment data, long... shape) {
    MemorySegment desc = arena.allocate(DESC, 8);
    desc.set(JAVA_INT, 0, DESC);
    desc.set(JAVA_INT, DTYPE, dtype);
    desc.set(JAVA_INT, NDIM, shape.length);
    desc.set(ADDRESS, DATA, data);
    desc.set(ADDRESS, SHAPE, arena.allocateFrom(JAVA_LONG, shape));
    return desc;
  }

  static void check(boolean right, Object what) {
    if (!right) throw new AssertionError(what);
  }

  public static void main(String[] arguments) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      SymbolLookup library = SymbolLookup.libraryLookup(arguments[0], arena);
      Linker linker = Linker.nativeLinker();
      MethodHandle abi =
          linker.downcallHandle(
              library.find("gth_abi_version").orElseThrow(), FunctionDescriptor.of(JAVA_INT));
      MethodHandle gather =
          linker.downcallHandle(
              library.find("gth_gather").orElseThrow(),
              FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
      check((int) abi.invokeExact() == ABI, "another ABI");

      float[] values = new float[12];
      for (int i = 0; i < values.length; ++i) values[i] = i;
      MemorySegment table = desc(arena, FLOAT32, arena.allocateFrom(ValueLayout.JAVA_FLOAT, values), 4, 3);
      MemorySegment rows = arena.allocate(24, 4), none = MemorySegment.NULL;
      MemorySegment out = desc(arena, FLOAT32, rows, 2, 3);
      MemorySegment error = arena.allocate(ERROR, 8);
      error.set(JAVA_INT, 0, ERROR);
      float[] expected = {9, 10, 11, 3, 4, 5};

      MemorySegment ids = desc(arena, INT64, arena.allocateFrom(JAVA_LONG, 3, 1), 2);
      check((int) gather.invokeExact(none, table, ids, out, none, error) == OK, "a valid lookup failed");
      check(Arrays.equals(rows.toArray(ValueLayout.JAVA_FLOAT), expected), "wrong rows");

      ids = desc(arena, INT64, arena.allocateFrom(JAVA_LONG, 0, 4), 2);
      check((int) gather.invokeExact(none, table, ids, out, none, error) == E_INDEX, "no error");
      check(error.get(JAVA_INT, STATUS) == E_INDEX, "status");
      check(error.get(JAVA_LONG, POSITION) == 1, "position");
      check(error.get(JAVA_LONG, VALUE) == 4 && error.get(JAVA_LONG, LIMIT) == 4, "value and limit");
      check(Arrays.equals(rows.toArray(ValueLayout.JAVA_FLOAT), expected), "an error has changed the rows");
    }
    System.out.println("java: rows are looked up, and an invalid id is an error");
  }
}
