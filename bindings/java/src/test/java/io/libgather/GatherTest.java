package io.libgather;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.libgather.internal.Gth;
import io.libgather.tf.Constant;
import io.libgather.tf.GatherNd;
import io.libgather.tf.ScatterNd;
import io.libgather.tf.Shape;
import io.libgather.tf.TFInvalidArgumentException;
import java.lang.foreign.Arena;
import java.lang.reflect.Modifier;
import java.util.Arrays;
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
}
