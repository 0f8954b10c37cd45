package io.libgather;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.libgather.ConformanceCase.Text;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Replays every recorded case in every form of the binding, with native memory and with arrays. */
class ConformanceTest {
  private static final Path CASES =
      Optional.ofNullable(System.getenv("GATHER_CONFORMANCE_CASES"))
          .map(Path::of)
          .orElse(Path.of(System.getProperty("gather.repository"), "build/conformance/cases"));
  private static final String COMMANDS =
      ": these commands in the tree compute it: "
          + "cmake --preset test && cmake --build --preset test --target conformance_cases";
  private static final byte UNTOUCHED = (byte) 0xa5;
  private static final long LARGE = 1 << 26;

  @TestFactory
  Stream<DynamicTest> cases() throws IOException {
    assertTrue(Files.isDirectory(CASES), "there is no " + CASES + COMMANDS);
    try (var files = Files.walk(CASES)) {
      List<Path> found = files.filter(file -> file.toString().endsWith(".txt")).sorted().toList();
      assertTrue(found.size() >= 47, "files: " + found.size());
      return found.stream().map(file -> DynamicTest.dynamicTest(CASES.relativize(file).toString(), () -> replay(file)));
    }
  }

  private static void replay(Path file) throws IOException {
    List<ConformanceCase> cases = ConformanceCase.read(file);
    int least = CASES.relativize(file).startsWith("packed") ? 1 : 100;
    assertTrue(cases.size() >= least, "cases: " + cases.size());
    List<String> failures = new ArrayList<>();
    for (ConformanceCase test : cases) {
      try {
        replay(test);
      } catch (RuntimeException | AssertionError | OutOfMemoryError e) {
        failures.add(test.name + ": " + e);
      }
    }
    int passed = cases.size() - failures.size();
    System.out.printf("conformance %s: %d of %d cases%n", CASES.relativize(file), passed, cases.size());
    assertEquals(List.of(), failures.subList(0, Math.min(5, failures.size())), failures.size() + " failures");
  }

  private static void replay(ConformanceCase test) {
    if (test.table.dtype() == DType.STRING) {
      replayStrings(test);
      return;
    }
    for (int threads : new int[] {1, 3}) {
      Options options = test.options.threads(threads).build();
      try (Arena arena = Arena.ofConfined()) {
        replay(test, options, arena);
        replay(test, options, null);
      }
    }
  }

  /** Replays a case with memory of an arena, or with arrays if the arena is null. */
  private static void replay(ConformanceCase test, Options options, Arena arena) {
    if (test.codec != null) {
      try (Packed packed = packed(test, arena)) {
        replayRead(test, packed, options, arena);
      }
    } else if (test.updates == null) {
      replayRead(test, tensor(test.table, arena), options, arena);
    } else {
      replayWrite(test, options, arena);
    }
  }

  private static void replayRead(ConformanceCase test, Params params, Options options, Arena arena) {
    if (test.operation == Operation.GATHER_BAGS) {
      replayBags(test, params, options, arena);
    } else {
      replayGather(test, params, options, arena);
    }
  }

  /** Returns packed params. A field is NAME=VALUE. A codec without a name has the fields of a named one. */
  private static Packed packed(ConformanceCase test, Arena arena) {
    String[] fields = test.codec.replace(". code=1 rule=1 scale_place=3", "affine8").split(" ");
    Packed.Builder builder = Packed.of(fields[0]).shape(test.table.shape()).dtype(test.table.dtype());
    builder.data(memory(test.table.bytes(), arena));
    if (test.table.strides() != null) {
      builder.strides(test.table.offset(), Arrays.copyOf(test.table.strides(), test.table.strides().length - 1));
    }
    if (test.scales != null) {
      builder.scales(tensor(test.scales, arena));
    }
    if (test.zeros != null) {
      builder.zeros(tensor(test.zeros, arena));
    }
    for (String field : fields) {
      String value = field.substring(field.indexOf('=') + 1);
      switch (field.substring(0, Math.max(field.indexOf('='), 0))) {
        case "block_values" -> builder.block(Long.parseLong(value));
        case "factor" -> builder.factor(Float.parseFloat(value));
        case "zero" -> builder.zero(Float.parseFloat(value));
        case "zero_dtype" -> {
          if (!value.equals("0")) {
            builder.zerosOf4Bits(tensor(test.zeros, arena), value.equals("4"));
          }
        }
        case "", "zero_place" -> {} // The name, and a field that zeros sets.
        default -> throw new AssertionError("the codec has a field " + field);
      }
    }
    return builder.build();
  }

  private static void replayGather(ConformanceCase test, Params params, Options options, Arena arena) {
    Tensor indices = tensor(test.indices, arena);
    long[] shape = shape(test, params, indices, options);
    if (shape == null || Arrays.stream(shape).asDoubleStream().reduce(params.dtype().size(), (a, b) -> a * b) > LARGE) {
      assertTrue(test.failure != null, "a large output");
      return; // No memory can have the shape of the output.
    }
    try (Arena result = Arena.ofConfined()) {
      expect(test, (byte) 0, null, () -> Gather.make(result, test.operation, params, indices, options));
    }
    Tensor out = output(params.dtype(), shape, arena);
    byte[] before = out.segment.toArray(ValueLayout.JAVA_BYTE);
    expect(
        test,
        UNTOUCHED,
        out,
        () -> {
          run(test.operation, params, indices, out, options);
          return out;
        });
    out.segment.copyFrom(MemorySegment.ofArray(before));
    expect(
        test,
        UNTOUCHED,
        out,
        () -> {
          try (Arena planned = Arena.ofConfined()) {
            Plan.create(planned, test.operation, params, indices, null, options)
                .run(params instanceof Tensor table ? table.segment : MemorySegment.NULL, indices.segment, out.segment);
          }
          return out;
        });
  }

  /** Returns the shape of the output, or null if the case has none. */
  private static long[] shape(ConformanceCase test, Params params, Tensor indices, Options options) {
    try {
      long[] shape = Gather.outputShape(test.operation, params, indices, options);
      assertTrue(test.failure == null || isOfData(test.failure), () -> "the query accepted " + test.failure);
      return shape;
    } catch (RuntimeException e) {
      assertEquals(test.failure, ((GatherFailure) e).details());
      return null;
    }
  }

  private static boolean isOfData(ErrorDetails failure) {
    return switch (failure.status()) {
      case INDEX, OFFSETS, STRIDE, NULL, SIZE -> true;
      default -> false;
    };
  }

  /** Replays a call of gather_bags: into a new tensor, and into existing memory. */
  private static void replayBags(ConformanceCase test, Params params, Options options, Arena arena) {
    Tensor indices = tensor(test.indices, arena);
    Tensor bags = test.bags == null ? null : tensor(test.bags, arena);
    Tensor weights = test.weights == null ? null : tensor(test.weights, arena);
    expect(test, (byte) 0, null, () -> Gather.gatherBags(params, indices, bags, weights, options));
    long[] shape = test.failure == null ? test.wanted.shape() : new long[] {1};
    Tensor out = output(params.dtype(), shape, arena);
    if (test.failure == null || !isOfData(test.failure)) { // The shape of the output is unknown after other errors.
      expect(
          test,
          (byte) 0,
          out,
          () -> {
            Gather.gatherBagsInto(out, params, indices, bags, weights, options);
            return out;
          });
    }
  }

  /** Replays a scatter or a gradient: into a new tensor, in place, and as a plan. */
  private static void replayWrite(ConformanceCase test, Options options, Arena arena) {
    Tensor indices = tensor(test.indices, arena);
    Tensor updates = tensor(test.updates, arena);
    Tensor first = tensor(test.table, arena);
    if (test.updates.dtype() == test.table.dtype()) { // A gradient has the dtype of its output.
      expect(test, (byte) 0, null, () -> made(test.operation, first, indices, updates, options));
    }
    Tensor target = tensor(test.table, arena);
    expect(
        test,
        (byte) 0,
        target,
        () -> {
          run(test.operation, target, indices, updates, options);
          return target;
        });
    if (Calls.isGradient(test.operation)) {
      return;
    }
    Tensor again = tensor(test.table, arena);
    expect(
        test,
        (byte) 0,
        again,
        () -> {
          try (Arena planned = Arena.ofConfined()) {
            Plan.create(planned, test.operation, again, indices, updates, options)
                .run(again.segment, indices.segment, updates.segment);
          }
          return again;
        });
  }

  /** Runs a scatter or a gradient with a new result. */
  static Tensor made(Operation operation, Tensor target, Tensor indices, Tensor updates, Options options) {
    return switch (operation) {
      case SCATTER -> Gather.scatter(target, indices, updates, options);
      case SCATTER_ND -> Gather.scatterNd(target, indices, updates, options);
      case SCATTER_ELEMENTS -> Gather.scatterElements(target, indices, updates, options);
      case GATHER_GRADIENT -> Gather.gatherGradient(updates, indices, target.shape, options);
      case GATHER_ND_GRADIENT -> Gather.gatherNdGradient(updates, indices, target.shape, options);
      default -> Gather.gatherElementsGradient(updates, indices, target.shape, options);
    };
  }

  /** Runs an operation on existing memory. */
  static void run(Operation operation, Params params, Tensor indices, Tensor rows, Options options) {
    Tensor table = params instanceof Tensor tensor ? tensor : null;
    switch (operation) {
      case GATHER -> Gather.gatherInto(rows, params, indices, options);
      case GATHER_ND -> Gather.gatherNdInto(rows, params, indices, options);
      case GATHER_ELEMENTS -> Gather.gatherElementsInto(rows, table, indices, options);
      case SCATTER -> Gather.scatterInto(table, indices, rows, options);
      case SCATTER_ND -> Gather.scatterNdInto(table, indices, rows, options);
      case SCATTER_ELEMENTS -> Gather.scatterElementsInto(table, indices, rows, options);
      case GATHER_GRADIENT -> Gather.gatherGradientInto(table, rows, indices, options);
      case GATHER_ND_GRADIENT -> Gather.gatherNdGradientInto(table, rows, indices, options);
      case GATHER_ELEMENTS_GRADIENT -> Gather.gatherElementsGradientInto(table, rows, indices, options);
      case GATHER_BAGS -> throw new AssertionError("bags have a function of their own");
    }
  }

  private static void replayStrings(ConformanceCase test) {
    Options options = test.options.build();
    try (Arena arena = Arena.ofConfined()) {
      Strings table = Strings.of(arena, test.table.strings(), test.table.shape());
      Strings updates = test.updates == null ? null : Strings.of(arena, test.updates.strings(), test.updates.shape());
      for (Arena memory : new Arena[] {arena, null}) {
        Strings found;
        try {
          found = table.make(test.operation, tensor(test.indices, memory), updates, options);
        } catch (RuntimeException e) {
          assertEquals(test.failure, ((GatherFailure) e).details());
          continue;
        }
        assertTrue(test.failure == null, "the call succeeded");
        assertEquals(Arrays.toString(test.wanted.shape()), Arrays.toString(found.shape()));
        assertEquals(strings(test.wanted.strings()), strings(found.toBytes()));
      }
    }
  }

  private static List<String> strings(List<byte[]> values) {
    return values.stream().map(Arrays::toString).toList();
  }

  /** Runs a call and compares its outcome. After an error, memory that exists already is unchanged. */
  private static void expect(
      ConformanceCase test, byte skipped, Tensor existing, Supplier<Tensor> call) {
    byte[] before = existing == null ? null : existing.segment.toArray(ValueLayout.JAVA_BYTE);
    Tensor found;
    try {
      found = call.get();
    } catch (RuntimeException e) {
      if (!(e instanceof GatherFailure failure)) {
        throw e;
      }
      assertEquals(test.failure, failure.details());
      assertEquals(failure.status() == Status.INDEX, e instanceof IndexOutOfBoundsException);
      assertTrue(!e.getMessage().isEmpty());
      if (existing != null) {
        assertTrue(Arrays.equals(before, existing.segment.toArray(ValueLayout.JAVA_BYTE)), "an error wrote memory");
      }
      return;
    }
    assertTrue(test.failure == null, () -> "the call succeeded instead of " + test.failure);
    assertEquals(Arrays.toString(test.wanted.shape()), Arrays.toString(found.shape));
    assertNumbers(test, elements(found), skipped);
  }

  private static void assertNumbers(ConformanceCase test, byte[] found, byte skipped) {
    byte[] wanted = test.wanted.bytes();
    assertEquals(wanted.length, found.length);
    int part = part(test.wanted.dtype());
    for (int at = 0; at < wanted.length; at += part) {
      boolean same = Arrays.equals(wanted, at, at + part, found, at, at + part);
      boolean skips = test.bounds.equals("skip") && test.updates == null;
      boolean skip = skips && wanted[at] == UNTOUCHED && found[at] == skipped;
      boolean reduced = test.reduces || test.codec != null || Calls.isGradient(test.operation);
      boolean bothNaN = reduced && isNaN(test.wanted.dtype(), wanted, at) && isNaN(test.wanted.dtype(), found, at);
      assertTrue(same || skip || bothNaN, () -> Arrays.toString(found) + " instead of " + Arrays.toString(wanted));
    }
  }

  /** Returns the size of a number: a complex element has two. */
  private static int part(DType dtype) {
    return dtype == DType.COMPLEX64 || dtype == DType.COMPLEX128 ? dtype.size() / 2 : dtype.size();
  }

  private static boolean isNaN(DType dtype, byte[] bytes, int at) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    return switch (dtype) {
      case FLOAT16 -> (buffer.getShort(at) & 0x7fff) > 0x7c00;
      case BFLOAT16 -> (buffer.getShort(at) & 0x7fff) > 0x7f80;
      case FLOAT32, COMPLEX64 -> Float.isNaN(buffer.getFloat(at));
      case FLOAT64, COMPLEX128 -> Double.isNaN(buffer.getDouble(at));
      default -> false;
    };
  }

  /** Returns the elements of a tensor in row-major order, without gaps. */
  private static byte[] elements(Tensor tensor) {
    if (tensor.isDense()) {
      return tensor.toByteArray();
    }
    int size = tensor.dtype.size();
    byte[] found = new byte[(int) tensor.size() * size];
    for (int number = 0; number < tensor.size(); number++) {
      long at = tensor.offset;
      long rest = number;
      for (int dim = tensor.shape.length - 1; dim >= 0; dim--) {
        at += rest % tensor.shape[dim] * tensor.strides[dim];
        rest /= tensor.shape[dim];
      }
      MemorySegment.copy(tensor.segment, ValueLayout.JAVA_BYTE, at, found, number * size, size);
    }
    return found;
  }

  private static Tensor tensor(Text text, Arena arena) {
    byte[] bytes = text.dtype() == DType.STRING ? new byte[0] : text.bytes().clone(); // strings are never valid indices
    Tensor tensor = Tensor.of(memory(bytes, arena), text.dtype(), text.shape());
    return text.strides() == null && text.offset() == 0 ? tensor : tensor.withStrides(text.offset(), text.strides());
  }

  private static Tensor output(DType dtype, long[] shape, Arena arena) {
    long bytes = Arrays.stream(shape).reduce(dtype.size(), (a, b) -> a * b);
    byte[] array = new byte[(int) bytes];
    Arrays.fill(array, UNTOUCHED);
    return Tensor.of(memory(array, arena), dtype, shape);
  }

  private static MemorySegment memory(byte[] array, Arena arena) {
    return arena == null ? MemorySegment.ofArray(array) : arena.allocateFrom(ValueLayout.JAVA_BYTE, array);
  }
}
