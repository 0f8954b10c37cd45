package io.libgather;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Pools of bags equal a loop over the ids of each bag. All numbers are small integers, so that sums are exact. */
class BagsTest {
  private static final int ROWS = 7;
  private static final int DIM = 3;
  private static final long PADDING = 2;
  private static final float[] TABLE = numbers(ROWS * DIM, 1);

  private static float[] numbers(int count, long seed) {
    Random random = new Random(seed);
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = random.nextInt(19) - 9;
    }
    return numbers;
  }

  private static long[] ids(int count) {
    return new Random(count).longs(count, 0, ROWS).toArray();
  }

  private static Tensor table() {
    return Tensor.of(TABLE.clone(), ROWS, DIM);
  }

  /** Returns a copy of a tensor in memory of the garbage collector that has an address. */
  private static Tensor direct(Tensor tensor) {
    if (tensor == null) {
      return null;
    }
    long bytes = Math.max(tensor.segment.byteSize(), 1);
    Tensor copy = Tensor.of(Arena.ofAuto().allocate(bytes, 8), tensor.dtype, tensor.shape);
    copy.segment.copyFrom(tensor.segment);
    return copy;
  }

  /** Returns the elements of one bag, by a loop. */
  private static float pooled(Pool pool, long[] ids, float[] weights, int from, int to, int column, Long padding) {
    float sum = 0;
    float divisor = 0;
    float most = 0;
    float least = 0;
    int count = 0;
    for (int k = from; k < to; k++) {
      if (padding != null && ids[k] == padding) {
        continue;
      }
      float value = TABLE[(int) ids[k] * DIM + column];
      float weight = weights == null ? 1 : weights[k];
      most = count == 0 ? value : Math.max(most, value);
      least = count == 0 ? value : Math.min(least, value);
      sum += weight * value;
      divisor += pool == Pool.SQRTN ? weight * weight : weight;
      count++;
    }
    return switch (pool) {
      case SUM -> sum;
      case MEAN -> divisor == 0 ? 0 : sum / divisor;
      case SQRTN -> divisor == 0 ? 0 : sum / (float) Math.sqrt(divisor);
      case MAX -> most;
      case MIN -> least;
    };
  }

  private static float[] pooled(Pool pool, long[] ids, float[] weights, int[] lengths, Long padding) {
    float[] out = new float[lengths.length * DIM];
    int from = 0;
    for (int bag = 0; bag < lengths.length; bag++) {
      for (int column = 0; column < DIM; column++) {
        out[bag * DIM + column] = pooled(pool, ids, weights, from, from + lengths[bag], column, padding);
      }
      from += lengths[bag];
    }
    return out;
  }

  /** Returns the numbers of a format for bags with these lengths. */
  private static Tensor numbers(BagFormat format, int[] lengths) {
    int[] offsets = new int[lengths.length + 1];
    for (int bag = 0; bag < lengths.length; bag++) {
      offsets[bag + 1] = offsets[bag] + lengths[bag];
    }
    return switch (format) {
      case OFFSETS -> Tensor.of(offsets);
      case STARTS -> Tensor.of(LongStream.range(0, lengths.length).map(bag -> offsets[(int) bag]).toArray());
      case LENGTHS -> Tensor.of(lengths);
      case SEGMENTS -> {
        var segments = IntStream.range(0, lengths.length);
        yield Tensor.of(segments.flatMap(bag -> IntStream.generate(() -> bag).limit(lengths[bag])).toArray());
      }
      case DENSE -> null;
    };
  }

  private static void poolsEqualTheLoop(BagFormat format, int[] lengths) {
    long[] ids = ids(Arrays.stream(lengths).sum());
    long[] shape = format == BagFormat.DENSE ? new long[] {lengths.length, lengths[0]} : new long[] {ids.length};
    for (Pool pool : Pool.values()) {
      for (Long padding : new Long[] {null, PADDING}) {
        for (boolean weighted : new boolean[] {false, true}) {
          if (weighted && (pool == Pool.MAX || pool == Pool.MIN)) {
            continue;
          }
          float[] weights = weighted ? numbers(ids.length, 2) : null;
          Options.Builder options = Options.builder().bagFormat(format).pool(pool);
          if (padding != null) {
            options.paddingIndex(padding);
          }
          if (format == BagFormat.SEGMENTS) {
            options.bagCount(lengths.length);
          }
          String name = format + " " + pool + " padding " + padding + " weighted " + weighted;
          float[] expected = pooled(pool, ids, weights, lengths, padding);
          Tensor weightsOrNull = weighted ? Tensor.of(weights, shape) : null;
          run(name, expected, Tensor.of(ids, shape), numbers(format, lengths), weightsOrNull, options.build());
        }
      }
    }
  }

  /** Runs each form with arrays and with native memory. */
  private static void run(String name, float[] expected, Tensor ids, Tensor bags, Tensor weights, Options options) {
    Tensor found = Gather.gatherBags(table(), ids, bags, weights, options);
    assertArrayEquals(new long[] {expected.length / DIM, DIM}, found.shape(), name);
    assertArrayEquals(expected, found.toFloatArray(), name);
    found = Gather.gatherBags(direct(table()), direct(ids), direct(bags), direct(weights), options);
    assertArrayEquals(expected, found.toFloatArray(), name + " native");
    float[] out = new float[expected.length];
    Arrays.fill(out, 77);
    Gather.gatherBagsInto(Tensor.of(out, found.shape()), direct(table()), ids, bags, weights, options);
    assertArrayEquals(expected, out, name + " into an array");
  }

  @Test
  void offsetsEqualTheLoop() {
    poolsEqualTheLoop(BagFormat.OFFSETS, new int[] {3, 0, 1, 4});
  }

  @Test
  void startsEqualTheLoop() {
    poolsEqualTheLoop(BagFormat.STARTS, new int[] {3, 0, 1, 4});
  }

  @Test
  void lengthsEqualTheLoop() {
    poolsEqualTheLoop(BagFormat.LENGTHS, new int[] {0, 5, 2, 0});
  }

  @Test
  void segmentsEqualTheLoop() {
    poolsEqualTheLoop(BagFormat.SEGMENTS, new int[] {2, 0, 6, 1, 0});
  }

  @Test
  void rowsOfIndicesEqualTheLoop() {
    poolsEqualTheLoop(BagFormat.DENSE, new int[] {4, 4, 4});
  }

  /** Calls and plans with more ids than one use of an array may have. */
  @Test
  void largeArraysEqualTheLoop() {
    int[] lengths = new int[2000];
    Arrays.fill(lengths, 5);
    poolsEqualTheLoop(BagFormat.DENSE, lengths);
    poolsEqualTheLoop(BagFormat.OFFSETS, lengths);
    long[] ids = ids(10_000);
    Tensor indices = Tensor.of(ids, lengths.length, 5);
    float[] expected = pooled(Pool.SUM, ids, null, lengths, null);
    Tensor made = Gather.make(Arena.ofAuto(), Operation.GATHER_BAGS, table(), indices, Options.DEFAULT);
    assertArrayEquals(expected, made.toFloatArray());
    Plan plan = Plan.create(Arena.ofAuto(), Operation.GATHER_BAGS, table(), indices, null, Options.DEFAULT);
    Tensor out = Tensor.of(new float[expected.length], lengths.length, DIM);
    plan.run(table().segment, indices.segment, out.segment);
    assertArrayEquals(expected, out.toFloatArray());
  }

  @Test
  void emptyBagIsTheFillValueOrAnError() {
    Tensor offsets = Tensor.of(new int[] {0, 0, 2});
    Tensor ids = Tensor.of(new long[] {0, 0});
    Options fill = Options.builder().empty(Empty.FILL).fillValue(5f).build();
    float[] rows = Gather.gatherBags(table(), ids, offsets, fill).toFloatArray();
    assertArrayEquals(new float[] {5, 5, 5}, Arrays.copyOf(rows, DIM));
    Options error = Options.builder().empty(Empty.ERROR).build();
    expect(new int[] {0, 0, 2}, 2, error, 0, 0, 1);
  }

  @Test
  void rowsOfBfloat16HaveAFloat32Sum() {
    short[] ones = {0x3F80, 0x3B80}; // 1 and 2^-8, whose sum is not a bfloat16
    Tensor table = Tensor.of(ones, 2, 1).withDType(DType.BFLOAT16);
    Tensor indices = Tensor.of(new byte[] {0, 1}, 1, 2);
    Tensor sum = Gather.gatherBags(table, indices, null, Options.builder().outDType(DType.FLOAT32).build());
    assertEquals(DType.FLOAT32, sum.dtype());
    assertArrayEquals(new float[] {1 + 0x1p-8f}, sum.toFloatArray());
    assertArrayEquals(ones, table.toShortArray());
    Tensor rounded = Gather.gatherBags(table, indices, null, Options.DEFAULT);
    assertArrayEquals(new short[] {0x3F80}, rounded.toShortArray());
  }

  /** Expects that bags are refused, and that the output is unchanged. */
  private static void expect(int[] bags, int ids, Options options, long position, long value, long limit) {
    for (Tensor numbers : new Tensor[] {Tensor.of(bags), direct(Tensor.of(bags))}) {
      float[] out = new float[2 * DIM];
      var e =
          assertThrows(
              GatherArgumentException.class,
              () -> Gather.gatherBagsInto(Tensor.of(out, 2, DIM), table(), Tensor.of(ids(ids)), numbers, null, options));
      ErrorDetails details = e.details();
      assertEquals(Status.OFFSETS, e.status());
      assertEquals(OperandName.BAGS, details.operand());
      assertEquals(position, details.position());
      assertEquals(value, details.value());
      assertEquals(limit, details.limit());
      assertArrayEquals(new float[2 * DIM], out);
    }
  }

  @Test
  void wrongBagsAreAnErrorWithTheFirstWrongNumber() {
    expect(new int[] {0, 3, 2}, 3, Options.DEFAULT, 2, 2, 3); // decreasing
    expect(new int[] {1, 2, 3}, 3, Options.DEFAULT, 0, 1, 0); // The first offset is not 0.
    expect(new int[] {0, 2, 4}, 3, Options.DEFAULT, 2, 4, 3); // above the number of ids
    Options lengths = Options.builder().bagFormat(BagFormat.LENGTHS).build();
    expect(new int[] {1, 1}, 3, lengths, 2, 2, 3); // another sum
    Options segments = Options.builder().bagFormat(BagFormat.SEGMENTS).bagCount(2).build();
    expect(new int[] {0, 1, 2}, 3, segments, 2, 2, 2);
  }

  @Test
  void idOutOfBoundsNamesThePosition() {
    Tensor indices = Tensor.of(new long[] {0, ROWS});
    Tensor offsets = Tensor.of(new int[] {0, 2});
    var e =
        assertThrows(
            GatherIndexException.class, () -> Gather.gatherBags(table(), indices, offsets, Options.DEFAULT));
    assertEquals(1, e.position());
    assertEquals(ROWS, e.limit());
  }

  @Test
  void outputMustNotOverlapAnyOperand() {
    float[] memory = new float[ROWS * DIM];
    Tensor params = Tensor.of(memory, ROWS, DIM);
    Tensor out = Tensor.of(params.segment.asSlice(0, 4 * DIM), DType.FLOAT32, 1, DIM);
    Tensor weights = Tensor.of(params.segment.asSlice(0, 8), DType.FLOAT32, 2);
    Tensor indices = Tensor.of(new long[] {0, 1});
    Tensor offsets = Tensor.of(new int[] {0, 2});
    overlaps(OperandName.PARAMS, out, params, indices, offsets, null);
    overlaps(OperandName.WEIGHTS, out, table(), indices, offsets, weights);
    Tensor numbers = Tensor.of(out.segment.asSlice(0, 8), DType.INT32, 2); // They are 0.
    overlaps(OperandName.BAGS, out, table(), Tensor.of(new long[0]), numbers, null);
  }

  private static void overlaps(OperandName name, Tensor out, Tensor params, Tensor indices, Tensor bags, Tensor weights) {
    var e =
        assertThrows(
            GatherArgumentException.class,
            () -> Gather.gatherBagsInto(out, params, indices, bags, weights, Options.DEFAULT));
    assertEquals(Status.ALIAS, e.status());
    assertEquals(name.number(), e.details().value());
  }

  @Test
  void closedArenaOfBagsIsAnIllegalState() {
    Arena arena = Arena.ofConfined();
    Tensor bags = Tensor.of(arena.allocate(8, 8), DType.INT32, 2);
    arena.close();
    Tensor params = direct(table());
    Tensor indices = direct(Tensor.of(new long[0]));
    assertThrows(IllegalStateException.class, () -> Gather.gatherBags(params, indices, bags, Options.DEFAULT));
  }

  /** Returns the gradients of params and of weights, by loops. */
  private static float[][] gradients(float[] given, long[] ids, float[] weights, int[] lengths) {
    float[] sums = new float[ROWS * DIM];
    float[] ofWeights = new float[ids.length];
    int k = 0;
    for (int bag = 0; bag < lengths.length; bag++) {
      for (int end = k + lengths[bag]; k < end; k++) {
        for (int column = 0; column < DIM && ids[k] != PADDING; column++) {
          float value = given[bag * DIM + column];
          sums[(int) ids[k] * DIM + column] += weights[k] * value;
          ofWeights[k] += TABLE[(int) ids[k] * DIM + column] * value;
        }
      }
    }
    return new float[][] {sums, ofWeights};
  }

  @Test
  void gradientsEqualTheLoops() {
    int[] lengths = {3, 0, 5, 1};
    long[] ids = ids(9);
    float[] weights = numbers(9, 2);
    float[] given = numbers(lengths.length * DIM, 3);
    float[][] expected = gradients(given, ids, weights, lengths);
    Options options = Options.builder().bagFormat(BagFormat.LENGTHS).paddingIndex(PADDING).build();
    long[] unique = LongStream.of(ids).filter(id -> id != PADDING).sorted().distinct().toArray();
    for (boolean isDirect : new boolean[] {false, true}) {
      Tensor gradient = Tensor.of(given.clone(), lengths.length, DIM);
      Tensor[] all = {gradient, table(), Tensor.of(ids), Tensor.of(lengths), Tensor.of(weights)};
      Tensor[] read = isDirect ? Arrays.stream(all).map(BagsTest::direct).toArray(Tensor[]::new) : all;
      Tensor made = Gather.gatherBagsGradient(read[0], read[1], read[2], read[3], read[4], options);
      assertArrayEquals(expected[0], made.toFloatArray());
      float[] out = new float[ROWS * DIM];
      Tensor target = Tensor.of(out, ROWS, DIM);
      Gather.gatherBagsGradientInto(target, read[0], read[1], read[2], read[3], read[4], options);
      assertArrayEquals(expected[0], out);
      made = Gather.gatherBagsWeightGradient(read[0], read[1], read[2], read[3], read[4], options);
      assertArrayEquals(expected[1], made.toFloatArray());
      float[] ofWeights = new float[9];
      Gather.gatherBagsWeightGradientInto(
          Tensor.of(ofWeights), read[0], read[1], read[2], read[3], read[4], options);
      assertArrayEquals(expected[1], ofWeights);
      long[] rows = new long[ROWS];
      Arrays.fill(out, 7);
      long count =
          Gather.gatherBagsSparseGradientInto(
              Tensor.of(rows), target, read[0], read[1], read[2], read[3], read[4], options);
      assertArrayEquals(unique, Arrays.copyOf(rows, (int) count));
      for (int i = 0; i < ROWS; i++) {
        float[] row = Arrays.copyOfRange(out, i * DIM, (i + 1) * DIM);
        int at = i < count ? (int) unique[i] : 0;
        assertArrayEquals(i < count ? Arrays.copyOfRange(expected[0], at * DIM, at * DIM + DIM) : new float[] {7, 7, 7}, row);
      }
    }
  }

  /** Returns the positions of the maxima or minima, by a loop. */
  private static long[] positions(Pool pool, long[] ids, int[] lengths) {
    long[] out = new long[lengths.length * DIM];
    Arrays.fill(out, -1);
    int from = 0;
    for (int bag = 0; bag < lengths.length; bag++) {
      for (int k = from; k < from + lengths[bag]; k++) {
        for (int column = 0; column < DIM && ids[k] != PADDING; column++) {
          int at = bag * DIM + column;
          float value = TABLE[(int) ids[k] * DIM + column];
          float best = out[at] < 0 ? value : TABLE[(int) ids[(int) out[at]] * DIM + column];
          if (out[at] < 0 || (pool == Pool.MAX ? value > best : value < best)) {
            out[at] = k;
          }
        }
      }
      from += lengths[bag];
    }
    return out;
  }

  @Test
  void positionsEqualALoop() {
    int[] lengths = {3, 0, 5, 1};
    long[] ids = ids(9);
    for (Pool pool : new Pool[] {Pool.MAX, Pool.MIN}) {
      Options options = Options.builder().bagFormat(BagFormat.LENGTHS).paddingIndex(PADDING).pool(pool).build();
      for (boolean isDirect : new boolean[] {false, true}) {
        Tensor[] all = {table(), Tensor.of(ids), Tensor.of(lengths)};
        Tensor[] read = isDirect ? Arrays.stream(all).map(BagsTest::direct).toArray(Tensor[]::new) : all;
        Tensor made = Gather.gatherBagsPositions(read[0], read[1], read[2], options);
        assertArrayEquals(positions(pool, ids, lengths), made.toLongArray());
        long[] out = new long[lengths.length * DIM];
        Gather.gatherBagsPositionsInto(Tensor.of(out, lengths.length, DIM), read[0], read[1], read[2], options);
        assertArrayEquals(positions(pool, ids, lengths), out);
      }
    }
  }

  @Test
  void errorsOfPositionsNameTheirOperands() {
    Tensor ids = Tensor.of(new long[] {0, 1, 7, 2});
    Tensor offsets = Tensor.of(new long[] {0, 2, 4});
    Options max = Options.builder().pool(Pool.MAX).build();
    long[] out = new long[2 * DIM];
    Tensor positions = Tensor.of(out, 2, DIM);
    var index =
        assertThrows(
            GatherIndexException.class,
            () -> Gather.gatherBagsPositionsInto(positions, table(), ids, offsets, max));
    assertEquals(2, index.details().position());
    Tensor valid = Tensor.of(new long[] {0, 1, 6, 2});
    var pool =
        assertThrows(
            GatherArgumentException.class,
            () -> Gather.gatherBagsPositions(table(), valid, offsets, Options.DEFAULT));
    assertEquals(Status.VERSION, pool.details().status());
    assertEquals(OperandName.OPTIONS, pool.details().operand());
    Tensor shared = Tensor.of(out, 4);
    var alias =
        assertThrows(
            GatherArgumentException.class,
            () -> Gather.gatherBagsPositionsInto(positions, table(), shared, offsets, max));
    assertEquals(Status.ALIAS, alias.details().status());
    assertEquals(OperandName.OUT, alias.details().operand());
    assertArrayEquals(new long[2 * DIM], out);
  }

  @Test
  void errorsOfGradientsNameTheirOperands() {
    Tensor ids = Tensor.of(new long[] {0, 1, 7, 2});
    Tensor offsets = Tensor.of(new long[] {0, 2, 4});
    Tensor gradient = Tensor.of(new float[2 * DIM], 2, DIM);
    float[] out = new float[ROWS * DIM];
    Tensor target = Tensor.of(out, ROWS, DIM);
    var index =
        assertThrows(
            GatherIndexException.class,
            () -> Gather.gatherBagsGradientInto(target, gradient, table(), ids, offsets, null, Options.DEFAULT));
    assertEquals(2, index.details().position());
    Tensor valid = Tensor.of(new long[] {0, 1, 6, 2});
    var size =
        assertThrows(
            GatherArgumentException.class,
            () ->
                Gather.gatherBagsSparseGradientInto(
                    Tensor.of(new long[3]),
                    Tensor.of(new float[3 * DIM], 3, DIM),
                    gradient,
                    table(),
                    valid,
                    offsets,
                    null,
                    Options.DEFAULT));
    assertEquals(Status.SIZE, size.details().status());
    assertEquals(4, size.details().limit());
    Tensor shared = Tensor.of(out, 2, DIM);
    var alias =
        assertThrows(
            GatherArgumentException.class,
            () -> Gather.gatherBagsGradientInto(target, shared, table(), valid, offsets, null, Options.DEFAULT));
    assertEquals(Status.ALIAS, alias.details().status());
    assertEquals(OperandName.TARGET, alias.details().operand());
    assertEquals("target: shares memory with updates", alias.getMessage());
    assertArrayEquals(new float[ROWS * DIM], out);
    Tensor rows = Tensor.of(new float[4 * DIM], 4, DIM);
    overlapOfNumbers(OperandName.OUT, OperandName.INDICES, valid, rows, gradient, valid);
    MemorySegment both = MemorySegment.ofArray(new long[4 * DIM]);
    Tensor numbers = Tensor.of(both, DType.INT64, 4);
    overlapOfNumbers(
        OperandName.TARGET, OperandName.OUT, numbers, Tensor.of(both, DType.FLOAT32, 4, DIM), gradient, valid);
  }

  private static void overlapOfNumbers(
      OperandName written, OperandName other, Tensor unique, Tensor rows, Tensor gradient, Tensor ids) {
    Tensor offsets = Tensor.of(new long[] {0, 2, 4});
    var e =
        assertThrows(
            GatherArgumentException.class,
            () ->
                Gather.gatherBagsSparseGradientInto(
                    unique, rows, gradient, table(), ids, offsets, null, Options.DEFAULT));
    assertEquals(Status.ALIAS, e.details().status());
    assertEquals(written, e.details().operand());
    assertEquals(other.number(), e.details().value());
  }
}
