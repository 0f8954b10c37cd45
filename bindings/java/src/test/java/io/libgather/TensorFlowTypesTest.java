package io.libgather;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.libgather.tf.Constant;
import io.libgather.tf.EagerSession;
import io.libgather.tf.Gather;
import io.libgather.tf.GatherNd;
import io.libgather.tf.NdArray;
import io.libgather.tf.NdArrays;
import io.libgather.tf.Operand;
import io.libgather.tf.ScatterNd;
import io.libgather.tf.Scope;
import io.libgather.tf.Shape;
import io.libgather.tf.StdArrays;
import io.libgather.tf.TBfloat16;
import io.libgather.tf.TFInvalidArgumentException;
import io.libgather.tf.TFloat16;
import io.libgather.tf.TInt32;
import io.libgather.tf.TString;
import io.libgather.tf.TUint16;
import io.libgather.tf.TensorScatterNdAdd;
import io.libgather.tf.TensorScatterNdMax;
import io.libgather.tf.TensorScatterNdMin;
import io.libgather.tf.TensorScatterNdUpdate;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Types of TensorFlow Java that no Java type has. The expected bits are those that TensorFlow Java 1.1.0 prints. */
class TensorFlowTypesTest {
  private static final float[] NUMBERS = {
    0, -0f, 1.5f, 65504, 65519, 65520, Float.NaN, Float.NEGATIVE_INFINITY, 6e-8f, 3e-8f, 0x1.002p0f, 0x1.006p0f,
    0.1f, -2049, 1e-40f, 3.4e38f, -1e-6f, 2051, 0x1.01p0f, 0x1.03p0f
  };
  private static final int[] HALVES = {
    0, 0x80000000, 0x3fc00000, 0x477fe000, 0x477fe000, 0x7f800000, 0x7fc00000, 0xff800000, 0x33800000, 0x33800000,
    0x3f800000, 0x3f804000, 0x3dccc000, 0xc5000000, 0, 0x7f800000, 0xb5880000, 0x45004000, 0x3f808000, 0x3f818000
  };
  private static final int[] UPPER = {
    0, 0x80000000, 0x3fc00000, 0x477f0000, 0x477f0000, 0x477f0000, 0x7fc00000, 0xff800000, 0x33800000, 0x33000000,
    0x3f800000, 0x3f800000, 0x3dcc0000, 0xc5000000, 0x00010000, 0x7f7f0000, 0xb5860000, 0x45000000, 0x3f800000,
    0x3f810000
  };

  private final Scope scope = EagerSession.create().baseScope();

  private Operand<TInt32> tuples(int... ids) {
    int[][] tuples = new int[ids.length][1];
    for (int i = 0; i < ids.length; i++) {
      tuples[i][0] = ids[i];
    }
    return Constant.tensorOf(scope, tuples);
  }

  @Test
  void floatsOfTwoBytesAreRoundedAsInTensorFlow() {
    TFloat16 halves = GatherNd.create(scope, Constant.create(scope, TFloat16.vectorOf(NUMBERS)), tuples(all())).asTensor();
    TBfloat16 upper = GatherNd.create(scope, Constant.create(scope, TBfloat16.vectorOf(NUMBERS)), tuples(all())).asTensor();
    for (int i = 0; i < NUMBERS.length; i++) {
      assertEquals(HALVES[i], Float.floatToRawIntBits(halves.getFloat(i)), "float16 of " + NUMBERS[i]);
      assertEquals(UPPER[i], Float.floatToRawIntBits(upper.getFloat(i)), "bfloat16 of " + NUMBERS[i]);
    }
  }

  private static int[] all() {
    int[] ids = new int[NUMBERS.length];
    Arrays.setAll(ids, i -> i);
    return ids;
  }

  @Test
  void tensorsOfNumbersHaveEveryFactory() {
    assertEquals(1.5f, TFloat16.scalarOf(1.5f).getFloat());
    assertEquals(3.140625f, TBfloat16.scalarOf(3.14159f).getFloat());
    assertEquals(Shape.of(2, 2), TFloat16.tensorOf(StdArrays.ndCopyOf(new float[][] {{1, 2}, {3, 4}})).shape());
    assertEquals(4, TBfloat16.tensorOf(StdArrays.ndCopyOf(new float[][] {{1, 2}, {3, 4}})).getFloat(1, 1));
    TUint16 numbers = TUint16.tensorOf(Shape.of(2, 3), data -> data.setShort((short) 40_000, 1, 2));
    assertEquals((short) 40_000, numbers.getShort(1, 2));
    assertEquals(0, numbers.getShort(0, 0));
    assertEquals(7, TUint16.tensorOf(StdArrays.ndCopyOf(new short[][][] {{{5, 6, 7}}})).getShort(0, 0, 2));
    assertEquals(Shape.of(0), TUint16.vectorOf().shape());
    TUint16 rows = GatherNd.create(scope, Constant.create(scope, numbers), tuples(1)).asTensor();
    assertEquals((short) 40_000, rows.getShort(0, 2));
    assertEquals(17, Constant.create(scope, rows).asOutput().dataType().getNumber());
    assertThrows(IndexOutOfBoundsException.class, () -> numbers.getShort(2, 0));
    assertThrows(IllegalArgumentException.class, () -> numbers.setShort((short) 1, 0));
    assertThrows(
        IllegalArgumentException.class, () -> TFloat16.tensorOf(StdArrays.ndCopyOf(new float[][] {{1, 2}, {3}})));
  }

  @Test
  void stringsAreGatheredAndUpdated() {
    NdArray<String> text = StdArrays.ndCopyOf(new String[][] {{"zero", "\u00fcber"}, {"", "x\0y"}});
    Operand<TString> words = Constant.tensorOf(scope, text);
    TString rows = GatherNd.create(scope, words, tuples(1, 0)).asTensor();
    assertEquals(Shape.of(2, 2), rows.shape());
    assertEquals("", rows.getObject(0, 0));
    assertEquals("x\0y", rows.getObject(0, 1));
    assertEquals("\u00fcber", rows.getObject(1, 1));
    assertArrayEquals(new byte[] {-61, -68, 98, 101, 114}, rows.asBytes().getObject(1, 1));
    TString ignored = GatherNd.create(scope, words, tuples(9, 0), GatherNd.badIndicesPolicy("IGNORE")).asTensor();
    assertEquals("", ignored.getObject(0, 1));
    assertEquals("zero", ignored.getObject(1, 0));
    TString updated =
        TensorScatterNdUpdate.create(
                scope, Constant.arrayOf(scope, "a", "b", "c"), tuples(2, 0), Constant.arrayOf(scope, "first", "second"))
            .asTensor();
    assertEquals("second b first", updated.getObject(0) + " " + updated.getObject(1) + " " + updated.getObject(2));
    assertEquals("one", TString.scalarOf("one").getObject());
    assertEquals(7, words.asOutput().dataType().getNumber());
    assertThrows(TFInvalidArgumentException.class, () -> GatherNd.create(scope, words, tuples(2)));
    Operand<TInt32> shape = Constant.vectorOf(scope, new int[] {3});
    Operand<TString> one = Constant.arrayOf(scope, "a");
    assertThrows(TFInvalidArgumentException.class, () -> ScatterNd.create(scope, tuples(0), one, shape));
  }

  @Test
  void stringsHaveTheBytesOfTheirCharset() {
    TString latin = TString.tensorOf(StandardCharsets.ISO_8859_1, NdArrays.vectorOfObjects("\u00fc", "b"));
    TString given = GatherNd.create(scope, Constant.create(scope, latin), tuples(0)).asTensor();
    assertArrayEquals(new byte[] {-4}, given.asBytes().getObject(0));
    assertEquals("\u00fc", given.using(StandardCharsets.ISO_8859_1).getObject(0));
    assertEquals("\u00fc", TString.tensorOf(latin.using(StandardCharsets.ISO_8859_1)).getObject(0));
    TString bytes = TString.tensorOfBytes(NdArrays.vectorOfObjects(new byte[] {-1, 0, 7}, new byte[0]));
    assertArrayEquals(new byte[] {-1, 0, 7}, bytes.asBytes().getObject(0));
    assertArrayEquals(new byte[0], bytes.asBytes().getObject(1));
    assertArrayEquals(new byte[] {-1, 0, 7}, TString.tensorOfBytes(bytes.asBytes()).asBytes().getObject(0));
  }

  @Test
  void nullArgumentsAreNamed() {
    Operand<TInt32> table = Constant.vectorOf(scope, new int[] {5, 7, 9});
    Operand<TInt32> zero = Constant.scalarOf(scope, 0);
    Operand<TInt32> ids = tuples(1);
    Operand<TInt32> one = Constant.vectorOf(scope, new int[] {8});
    expectNull("params", () -> Gather.create(scope, null, ids, zero));
    expectNull("indices", () -> Gather.create(scope, table, null, zero));
    expectNull("axis", () -> Gather.create(scope, table, ids, null));
    expectNull("options", () -> Gather.create(scope, table, ids, zero, (Gather.Options) null));
    expectNull("batchDims", () -> Gather.batchDims(null));
    expectNull("params", () -> GatherNd.create(scope, null, ids));
    expectNull("indices", () -> GatherNd.create(scope, table, null));
    expectNull("options", () -> GatherNd.create(scope, table, ids, (GatherNd.Options[]) null));
    expectNull("badIndicesPolicy", () -> GatherNd.badIndicesPolicy(null));
    expectNull("indices", () -> ScatterNd.create(scope, null, one, one));
    expectNull("updates", () -> ScatterNd.create(scope, ids, null, one));
    expectNull("shape", () -> ScatterNd.create(scope, ids, one, null));
    expectNull("badIndicesPolicy", () -> ScatterNd.badIndicesPolicy(null));
    expectNull("tensor", () -> TensorScatterNdAdd.create(scope, null, ids, one));
    expectNull("indices", () -> TensorScatterNdMax.create(scope, table, null, one));
    expectNull("updates", () -> TensorScatterNdMin.create(scope, table, ids, null));
    expectNull("tensor", () -> TensorScatterNdUpdate.create(scope, null, ids, one));
  }

  @Test
  void nullElementsAndTypesAreNamed() {
    expectNull("tensor", () -> Constant.create(scope, null));
    expectNull("values", () -> Constant.vectorOf(scope, (float[]) null));
    expectNull("values", () -> Constant.tensorOf(scope, new int[][] {{1}, null}));
    expectNull("value", () -> Constant.scalarOf(scope, (String) null));
    expectNull("a string", () -> Constant.arrayOf(scope, "a", null));
    expectNull("values", () -> StdArrays.ndCopyOf((float[]) null));
    expectNull("values", () -> NdArrays.vectorOfObjects((String[]) null));
    expectNull("charset", () -> TString.tensorOf(null, NdArrays.scalarOfObject("a")));
    expectNull("values", () -> TString.tensorOf(null));
    expectNull("values", () -> TString.tensorOfBytes(null));
    expectNull("charset", () -> TString.scalarOf("a").using(null));
    expectNull("values", () -> TFloat16.tensorOf((NdArray<Float>) null));
    expectNull("shape", () -> TBfloat16.tensorOf((Shape) null));
    expectNull("initializer", () -> TUint16.tensorOf(Shape.of(1), null));
    expectNull("extents", () -> Shape.of((long[]) null));
  }

  private static void expectNull(String parameter, Executable call) {
    assertEquals(parameter + " is null", assertThrows(NullPointerException.class, call, parameter).getMessage());
  }
}
