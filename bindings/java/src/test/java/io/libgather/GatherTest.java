package io.libgather;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.libgather.internal.Gth;
import io.libgather.tf.Constant;
import io.libgather.tf.DataType;
import io.libgather.tf.GatherNd;
import io.libgather.tf.ScatterNd;
import io.libgather.tf.Shape;
import io.libgather.tf.TFloat32;
import io.libgather.tf.TFInvalidArgumentException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The parts of the binding that the recorded cases do not use. */
class GatherTest {
  @Test
  void partitionAssignsIdsToShards() {
    Tensor ids = Tensor.of(new long[] {7, 0, 8, 3, 7});
    Partition parts = Partition.of(ids, Shards.borders(0, 4, 10), Options.DEFAULT);
    assertArrayEquals(new long[] {2, 3}, parts.counts());
    assertArrayEquals(new long[] {0, 3, 3, 4, 3}, parts.local());
    assertArrayEquals(new long[] {1, 3, 0, 2, 4}, parts.order());
    Partition once = Partition.once(ids, Shards.borders(0, 4, 10), Options.DEFAULT);
    assertArrayEquals(new long[] {2, 2}, once.counts());
    assertArrayEquals(new long[] {0, 3, 3, 4}, once.local());
    assertArrayEquals(new long[] {2, 0, 3, 1, 2}, once.place());
    assertNull(once.order());
    assertArrayEquals(new long[] {2, 3}, Partition.of(ids, Shards.modulo(10, 2), Options.DEFAULT).counts());
    assertArrayEquals(new long[] {2, 3}, Partition.of(ids, Shards.blocks(10, 2), Options.DEFAULT).counts());
    var e =
        assertThrows(GatherIndexException.class, () -> Partition.of(ids, Shards.blocks(8, 2), Options.DEFAULT));
    assertEquals(2, e.position());
    assertThrows(GatherArgumentException.class, () -> Partition.of(ids, Shards.blocks(8, 0), Options.DEFAULT));
  }

  @Test
  void oneRowAndOneNumberAreRepeated() {
    Tensor target = Tensor.of(new float[8], 4, 2);
    Tensor ids = Tensor.of(new long[] {2, 0});
    Tensor row = Gather.scatter(target, ids, Tensor.of(new float[] {7, 8}), Options.DEFAULT);
    assertArrayEquals(new float[] {7, 8, 0, 0, 7, 8, 0, 0}, row.toFloatArray());
    Tensor number = Gather.scatter(target, ids, Tensor.of(MemorySegment.ofArray(new float[] {9}), DType.FLOAT32), Options.DEFAULT);
    assertArrayEquals(new float[] {9, 9, 0, 0, 9, 9, 0, 0}, number.toFloatArray());
  }

  @Test
  void meanIsThatOfTheUpdates() {
    Tensor target = Tensor.of(new float[] {50, 50, 50, 50}, 2, 2);
    Tensor updates = Tensor.of(new float[] {1, 2, 4, 8, 100, 100}, 3, 2);
    Options mean = Options.builder().reduction(Reduction.MEAN).initial(Initial.UPDATE).paddingIndex(-1).build();
    Tensor made = Gather.scatter(target, Tensor.of(new long[] {1, 1, -1}), updates, mean);
    assertArrayEquals(new float[] {50, 50, 2.5f, 5}, made.toFloatArray());
  }

  /** On the CPU, the sum is always that of the updates in their order: (1e8 + 1) - 1e8 is 0 in float32. */
  @Test
  void sumsHaveTheOrderOfUpdates() {
    Tensor ids = Tensor.of(new int[] {1, 1, 1});
    Tensor updates = Tensor.of(new float[] {1e8f, 1, -1e8f});
    for (Order order : Order.values()) {
      Options options = Options.builder().reduction(Reduction.ADD).order(order).build();
      assertEquals(order, options.order().orElseThrow());
      Tensor sums = Gather.scatter(Tensor.of(new float[] {4, 0}), ids, updates, options);
      assertArrayEquals(new float[] {4, 0}, sums.toFloatArray());
    }
    Options any = Options.builder().order(Order.ANY).build();
    Tensor gradient = Gather.gatherGradient(updates, ids, new long[] {2}, any);
    assertArrayEquals(new float[] {0, 0}, gradient.toFloatArray());
    var refused = assertThrows(GatherArgumentException.class, () -> Gather.gather(updates, ids, any));
    assertEquals(Status.VERSION, refused.details().status());
  }

  @Test
  void capabilitiesAreThoseOfThisLibrary() {
    Capabilities found = Capabilities.get();
    assertEquals(Gth.ABI_VERSION, found.abi());
    assertEquals("0.1.0", found.version());
    assertTrue(found.threads() > 0 && found.tier() > 0 && found.cudaDevices() >= 0);
  }

  /** The expected shapes are those of TensorFlow Java 1.1.0. */
  @Test
  void emptyConstantHasTheRankOfItsType() {
    assertEquals(Shape.of(0, 0), Constant.tensorOf(null, new int[0][2]).shape());
    assertEquals(Shape.of(2, 0), Constant.tensorOf(null, new int[2][0]).shape());
    assertEquals(Shape.of(0, 0, 0), Constant.tensorOf(null, new int[0][2][2]).shape());
    var table = Constant.tensorOf(null, new float[3][3]);
    assertEquals(Shape.of(0, 3, 3), GatherNd.create(null, table, Constant.tensorOf(null, new int[0][2])).shape());
  }

  @Test
  void invalidShapeOfScatterNdIsAnInvalidArgument() {
    var ids = Constant.tensorOf(null, new long[][] {{0}});
    var updates = Constant.vectorOf(null, new float[] {1});
    for (long[] shape : new long[][] {{-1}, {-1, -1}, {1L << 32, 1L << 32}}) {
      assertThrows(
          TFInvalidArgumentException.class,
          () -> ScatterNd.create(null, ids, updates, Constant.vectorOf(null, shape)),
          Arrays.toString(shape));
    }
  }

  @Test
  void contextLimitsThreads() {
    try (Arena arena = Arena.ofConfined()) {
      Options options = Options.builder().context(Context.create(arena, 1)).build();
      Tensor table = Tensor.of(new byte[] {1, 2, 3});
      assertArrayEquals(new byte[] {3}, Gather.gather(table, Tensor.of(new int[] {2}), options).toByteArray());
      assertThrows(GatherArgumentException.class, () -> Context.create(arena, -1));
    }
  }

  @Test
  void callsAfterShutdownStartThreadsAgain() {
    long[] ids = new long[1 << 20];
    Tensor table = Tensor.of(new long[] {5});
    for (int i = 0; i < 3; i++) {
      assertEquals(5, Gather.gather(table, Tensor.of(ids)).toLongArray()[ids.length - 1]);
      Capabilities.shutdown();
    }
  }

  @Test
  void planTellsShapesAndSizes() {
    Tensor table = Tensor.shaped(DType.INT16, 3, 4);
    Plan plan = Plan.gatherNd(table, Tensor.shaped(DType.INT32, Plan.OPEN, 1), Options.DEFAULT);
    assertArrayEquals(new long[] {Plan.OPEN, 4}, plan.outputShape(Plan.OPEN));
    assertArrayEquals(new long[] {5, 4}, plan.outputShape(5));
    assertEquals(new Plan.Extents(5, 24, 20, 40), plan.extents(5));
    Tensor ids = Tensor.of(new int[] {0, 3});
    var e = assertThrows(GatherIndexException.class, () -> plan.check(2, ids.segment()));
    assertEquals(1, e.position());
    plan.check(1, ids.segment());
    Tensor params = Tensor.shaped(DType.FLOAT32, 2, 2);
    Plan elements = Plan.gatherElements(params, Tensor.shaped(DType.INT64, 1, 2), Options.DEFAULT);
    assertArrayEquals(new long[] {1, 2}, elements.outputShape(Plan.OPEN));
  }

  @Test
  void everyDtypeOfTheHeaderHasItsSize() throws Exception {
    for (DType dtype : DType.values()) {
      assertEquals(Gth.dtypeSize(dtype.number()), dtype.size(), dtype.name());
      assertEquals(Gth.class.getField("DTYPE_" + dtype.name()).getInt(null), dtype.number());
    }
  }

  @Test
  void publicClassesHaveNoPublicConstructor() {
    for (Class<?> type : new Class<?>[] {Gather.class, Plan.class, Tensor.class, Options.class, Context.class}) {
      assertTrue(Arrays.stream(type.getDeclaredConstructors()).noneMatch(c -> Modifier.isPublic(c.getModifiers())));
    }
  }

  @Test
  void callsWithoutOptionsHaveTheDefaults() {
    Tensor table = Tensor.of(new int[] {1, 2, 3, 4}, 2, 2);
    Tensor row = Tensor.of(new long[] {1});
    Tensor pair = Tensor.of(new long[] {1, 0}, 1, 2);
    Tensor element = Tensor.of(new long[] {1, 0}, 1, 2);
    int[] out = new int[2];
    Gather.gatherInto(Tensor.of(out, 1, 2), table, row);
    assertArrayEquals(new int[] {3, 4}, out);
    Gather.gatherNdInto(Tensor.of(MemorySegment.ofArray(out).asSlice(0, 4), DType.INT32, 1), table, pair);
    assertEquals(3, out[0]);
    Gather.gatherElementsInto(Tensor.of(out, 1, 2), table, element);
    assertArrayEquals(new int[] {3, 2}, out);
    Tensor rows = Tensor.of(new int[] {7, 8}, 1, 2);
    assertArrayEquals(new int[] {1, 2, 7, 8}, Gather.scatter(table, row, rows).toIntArray());
    Tensor one = Tensor.of(new int[] {9}, 1);
    assertArrayEquals(new int[] {1, 2, 9, 4}, Gather.scatterNd(table, pair, one).toIntArray());
    assertArrayEquals(new int[] {1, 8, 7, 4}, Gather.scatterElements(table, element, rows).toIntArray());
    int[] target = {1, 2, 3, 4};
    Gather.scatterInto(Tensor.of(target, 2, 2), row, rows);
    Gather.scatterNdInto(Tensor.of(target, 2, 2), pair, one);
    Gather.scatterElementsInto(Tensor.of(target, 2, 2), Tensor.of(new long[] {0, 0}, 1, 2), rows);
    assertArrayEquals(new int[] {7, 8, 9, 8}, target);
  }

  @Test
  void optionsHaveTheirValues() {
    Context context = Context.create(1);
    Options options =
        Options.builder()
            .axis(0)
            .batchDims(2)
            .bounds(Bounds.FILL)
            .fillValue((short) -2)
            .pool(Pool.MEAN)
            .paddingIndex(-1)
            .outDType(DType.FLOAT32)
            .context(context)
            .build();
    assertEquals(OptionalLong.of(0), options.axis());
    assertEquals(2, options.batchDims());
    assertEquals(Optional.of(Bounds.FILL), options.bounds());
    assertEquals(Optional.of(Pool.MEAN), options.pool());
    assertEquals(OptionalLong.of(-1), options.paddingIndex());
    assertEquals(Optional.of(DType.INT16), options.fillDType());
    assertArrayEquals(new byte[] {-2, -1}, options.fillBytes().orElseThrow());
    assertEquals(Optional.of(DType.FLOAT32), options.outDType());
    assertEquals(Optional.of(context), options.context());
    assertEquals(
        "Options{axis=0, batchDims=2, bounds=FILL, fill=VALUE, pool=MEAN, paddingIndex=-1, outDType=FLOAT32, "
            + "fillBytes=INT16 feff, context=given}",
        options.toString());
    assertEquals("Options{}", Options.DEFAULT.toString());
    assertEquals(Optional.empty(), Options.DEFAULT.bounds());
    assertEquals(OptionalLong.empty(), Options.DEFAULT.axis());
  }

  @Test
  void fillValueOfByteAndLongIsWritten() {
    Tensor ids = Tensor.of(new long[] {0, 9});
    Options ofByte = Options.builder().bounds(Bounds.FILL).fillValue((byte) -3).build();
    Tensor bytes = Gather.gather(Tensor.of(new byte[] {1, 2}), ids, ofByte);
    assertArrayEquals(new byte[] {1, -3}, bytes.segment().toArray(ValueLayout.JAVA_BYTE));
    Options ofLong = Options.builder().bounds(Bounds.FILL).fillValue(-4L).build();
    Tensor longs = Gather.gather(Tensor.of(new long[] {1, 2}), ids, ofLong);
    assertArrayEquals(new long[] {1, -4}, longs.segment().toArray(ValueLayout.JAVA_LONG));
  }

  @Test
  void optionsWithEqualValuesAreEqual() {
    Options two = Options.builder().axis(1).fillValue(2).build();
    Options same = Options.builder().fillValue(2).axis(1).build();
    assertEquals(two, same);
    assertEquals(two.hashCode(), same.hashCode());
    assertNotEquals(two, Options.builder().axis(1).fillValue(2.0f).build());
    assertNotEquals(two, Options.builder().axis(1).fillValue(2).context(Context.create(1)).build());
    assertNotEquals(Options.DEFAULT, Options.builder().axis(0).build());
    assertEquals(Options.DEFAULT, Options.builder().build());
  }

  @Test
  void partitionLeavesOutSkippedIds() {
    Options skip = Options.builder().bounds(Bounds.SKIP).build();
    Partition parts = Partition.of(Tensor.of(new long[] {7, 99, 0, -1}), Shards.borders(0, 4, 10), skip);
    assertArrayEquals(new long[] {1, 1}, parts.counts());
    assertArrayEquals(new long[] {0, 3}, parts.local());
    assertArrayEquals(new long[] {2, 0}, parts.order());
    assertArrayEquals(new long[] {1, -1, 0, -1}, parts.place());
  }

  /** A plan keeps the bytes of its last run. */
  @Test
  void runsOfAPlanHaveTheBytesOfTheirExtents() {
    Plan plan = Plan.gather(Tensor.shaped(DType.INT16, 3, 4), Tensor.shaped(DType.INT32, Plan.OPEN), Options.DEFAULT);
    short[] table = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};
    for (int n : new int[] {5, 2, 5, 0, 3}) {
      assertEquals(new Plan.Extents(n, n == 0 ? 0 : 24, 4L * n, 8L * n), plan.extents(n));
      int[] ids = new int[n];
      short[] rows = new short[4 * n];
      Arrays.setAll(ids, i -> (n + i) % 3);
      plan.run(n, MemorySegment.ofArray(table), MemorySegment.ofArray(ids), MemorySegment.ofArray(rows));
      for (int i = 0; i < n; i++) {
        assertArrayEquals(
            Arrays.copyOfRange(table, 4 * ids[i], 4 * ids[i] + 4), Arrays.copyOfRange(rows, 4 * i, 4 * i + 4));
      }
    }
    MemorySegment two = MemorySegment.ofArray(new int[2]);
    plan.run(2, MemorySegment.ofArray(table), two, MemorySegment.ofArray(new short[8]));
    var e =
        assertThrows(
            GatherArgumentException.class,
            () -> plan.run(3, MemorySegment.ofArray(table), two, MemorySegment.ofArray(new short[12])));
    assertEquals(12, e.details().limit());
  }

  @Test
  void tensorsKeepNoShapeOfTheCaller() {
    long[] shape = {2, 3};
    long[] strides = {4, 8};
    Tensor tensor = Tensor.of(new float[6], shape).withStrides(0, strides);
    shape[0] = 9;
    strides[1] = 99;
    assertArrayEquals(new long[] {2, 3}, tensor.shape());
    assertEquals(24, tensor.used().byteSize());
  }

  @Test
  void booleansAreCopied() {
    boolean[] table = {true, false, true};
    Tensor params = Tensor.of(table);
    table[1] = true;
    assertEquals(DType.BOOL, params.dtype());
    assertArrayEquals(
        new boolean[] {false, true}, Gather.gather(params, Tensor.of(new long[] {1, 2})).toBooleanArray());
    assertThrows(
        GatherArgumentException.class, () -> Gather.gatherInto(params, params, Tensor.of(new long[] {0, 0, 0})));
  }

  /** The expected numbers are those of TensorFlow's DataType. */
  @Test
  void outputsDescribeTheirTensors() {
    var output = Constant.tensorOf(null, new float[2][3]).output();
    assertEquals(0, output.index());
    assertEquals(2, output.rank());
    assertEquals(TFloat32.class, output.type());
    assertEquals(DataType.DT_FLOAT, output.dataType());
    assertEquals(1, output.dataType().getNumber());
    assertEquals(9, Constant.tensorOf(null, new long[][] {{1}}).output().dataType().getNumber());
  }

  @Test
  void positionsOfScattersAreThoseOfTheFirstExtremeUpdates() {
    float[] numbers = {3, 2, 5, 4, 3, 9, 6, Float.NaN};
    Tensor target = Tensor.of(new float[] {1, 8, 4, 4, 9, 9}, 3, 2);
    Tensor ids = Tensor.of(new int[] {0, 1, 0, 1});
    Tensor updates = Tensor.of(numbers, 4, 2);
    Options max = Options.builder().reduction(Reduction.MAX).build();
    Options min = Options.builder().reduction(Reduction.MIN).initial(Initial.UPDATE).build();
    Tensor made = Gather.scatterPositions(Operation.SCATTER, target, ids, updates, max);
    assertArrayEquals(new long[] {3, 2}, made.shape());
    assertArrayEquals(new long[] {0, 5, 6, 7, -1, -1}, made.toLongArray());
    long[] out = new long[6];
    Tensor positions = Tensor.of(out, 3, 2);
    Gather.scatterPositionsInto(Operation.SCATTER, positions, target, ids, updates, min);
    assertArrayEquals(new long[] {0, 1, 2, 7, -1, -1}, out);
    Tensor tuples = Tensor.of(new long[] {1, 0, 0, 0, 1, 0}, 3, 2);
    Tensor few = Tensor.of(new float[] {5, 4, 3});
    Gather.scatterPositionsInto(Operation.SCATTER_ND, positions, target, tuples, few, max);
    assertArrayEquals(new long[] {1, -1, 0, -1, -1, -1}, out);
    Tensor places = Tensor.of(new int[] {2, 0, 0, 1}, 2, 2);
    Tensor pairs = Tensor.of(new float[] {3, 9, 6, Float.NaN}, 2, 2);
    assertArrayEquals(
        new long[] {2, 1, -1, 3, -1, -1},
        Gather.scatterPositions(Operation.SCATTER_ELEMENTS, target, places, pairs, max).toLongArray());
  }

  @Test
  void errorsOfPositionsOfScattersNameTheirOperands() {
    Tensor target = Tensor.of(new float[] {1, 8, 4, 4, 9, 9}, 3, 2);
    Tensor updates = Tensor.of(new float[4], 2, 2);
    Tensor ids = Tensor.of(new long[] {0, 2});
    Options max = Options.builder().reduction(Reduction.MAX).build();
    long[] out = new long[6];
    Tensor positions = Tensor.of(out, 3, 2);
    var index =
        assertThrows(
            GatherIndexException.class,
            () ->
                Gather.scatterPositionsInto(
                    Operation.SCATTER, positions, target, Tensor.of(new long[] {0, 3}), updates, max));
    assertEquals(1, index.details().position());
    var reduction =
        assertThrows(
            GatherArgumentException.class,
            () -> Gather.scatterPositions(Operation.SCATTER, target, ids, updates, Options.DEFAULT));
    assertEquals(OperandName.OPTIONS, reduction.details().operand());
    var operation =
        assertThrows(
            GatherArgumentException.class,
            () -> Gather.scatterPositions(Operation.GATHER, target, ids, updates, max));
    assertEquals(Status.VERSION, operation.details().status());
    var alias =
        assertThrows(
            GatherArgumentException.class,
            () ->
                Gather.scatterPositionsInto(
                    Operation.SCATTER, positions, target, Tensor.of(out, 6), Tensor.of(new float[12], 6, 2), max));
    assertEquals(Status.ALIAS, alias.details().status());
    assertEquals(OperandName.OUT, alias.details().operand());
    assertArrayEquals(new long[6], out);
  }
}
