import org.tensorflow.EagerSession;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.exceptions.TFInvalidArgumentException;
import org.tensorflow.op.Scope;
import org.tensorflow.op.core.Constant;
import org.tensorflow.op.core.Gather;
import org.tensorflow.op.core.GatherNd;
import org.tensorflow.op.core.ScatterNd;
import org.tensorflow.op.core.TensorScatterNdAdd;
import org.tensorflow.op.core.TensorScatterNdMax;
import org.tensorflow.op.core.TensorScatterNdMin;
import org.tensorflow.op.core.TensorScatterNdUpdate;
import org.tensorflow.ndarray.NdArrays;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.ndarray.StdArrays;
import org.tensorflow.types.TBfloat16;
import org.tensorflow.types.TBool;
import org.tensorflow.types.TFloat16;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TFloat64;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TInt64;
import org.tensorflow.types.TString;
import org.tensorflow.types.TUint16;
import org.tensorflow.types.TUint8;
import org.tensorflow.types.family.TNumber;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Prints the results of lookups. Only the imports differ from the original program. */
public final class Lookups {
  private final Scope scope;

  private Lookups(Scope scope) {
    this.scope = scope;
  }

  public static void main(String[] arguments) {
    try (EagerSession session = EagerSession.create()) {
      new Lookups(session.baseScope()).run();
    }
  }

  private void run() {
    Operand<TFloat32> table =
        Constant.tensorOf(scope, new float[][] {{0, 1.5f, -0f}, {10, Float.NaN, 12}, {20, 21, Float.MIN_VALUE}});
    Operand<TInt32> tuples = Constant.tensorOf(scope, new int[][] {{2, 1}, {0, 2}, {1, 1}, {1, 0}});
    Operand<TInt64> rows = Constant.tensorOf(scope, new long[][] {{2}, {0}, {2}});

    print("elements", GatherNd.create(scope, table, tuples).output());
    print("rows", GatherNd.create(scope, table, rows).asOutput());
    Operand<TInt32> batch = Constant.tensorOf(scope, new int[][][] {{{0, 0}}, {{2, 2}}});
    print("batch of tuples", GatherNd.create(scope, table, batch));
    print("one tuple", GatherNd.create(scope, table, Constant.vectorOf(scope, new int[] {1, 2})));
    print("ignored", GatherNd.create(scope, table, Constant.tensorOf(scope, new int[][] {{0, 1}, {3, 0}, {-1, 0}}),
        GatherNd.badIndicesPolicy("IGNORE")));
    print("no tuples", GatherNd.create(scope, table, Constant.tensorOf(scope, new int[0][2])));
    fails("negative", Constant.tensorOf(scope, new int[][] {{-1, 0}}));
    fails("out of bounds", Constant.tensorOf(scope, new long[][] {{0, 0}, {0, 3}}));
    fails("long tuple", Constant.tensorOf(scope, new int[][] {{0, 0, 0}}));

    Operand<TInt32> ids = Constant.vectorOf(scope, new int[] {2, 0});
    print("gather", Gather.create(scope, table, ids, Constant.scalarOf(scope, 0)));
    print("columns", Gather.create(scope, table, rows, Constant.scalarOf(scope, -1L)));
    print("batches", Gather.create(scope, table, Constant.tensorOf(scope, new int[][] {{1}, {0}, {2}}),
        Constant.scalarOf(scope, 1), Gather.batchDims(1L)));

    Operand<TFloat32> updates = Constant.tensorOf(scope, new float[][] {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});
    print("update", TensorScatterNdUpdate.create(scope, table, rows, updates));
    print("add", TensorScatterNdAdd.create(scope, table, rows, updates));
    print("max", TensorScatterNdMax.create(scope, zeros(), rows, updates));
    print("min", TensorScatterNdMin.create(scope, zeros(), rows, updates));
    print("dropped", TensorScatterNdAdd.create(scope, table, Constant.tensorOf(scope, new long[][] {{0}, {5}, {-1}}),
        updates, TensorScatterNdAdd.badIndicesPolicy("IGNORE")));
    print("scatter", ScatterNd.create(scope, rows, updates, Constant.vectorOf(scope, new long[] {4, 3})));

    try {
      ScatterNd.create(scope, rows, updates, Constant.vectorOf(scope, new long[] {-1, 3}));
      System.out.println("negative shape: no error");
    } catch (TFInvalidArgumentException e) {
      System.out.println("negative shape: invalid argument");
    }

    types();
  }

  private Operand<TFloat32> zeros() {
    return Constant.tensorOf(scope, new float[3][3]);
  }

  private void types() {
    Operand<TInt32> one = Constant.tensorOf(scope, new int[][] {{1}});
    TFloat64 doubles = GatherNd.create(scope, Constant.vectorOf(scope, new double[] {1, -2.5}), one).asTensor();
    TInt32 ints = GatherNd.create(scope, Constant.vectorOf(scope, new int[] {1, -2}), one).asTensor();
    TInt64 longs = GatherNd.create(scope, Constant.vectorOf(scope, new long[] {1, Long.MIN_VALUE}), one).asTensor();
    TUint8 bytes = GatherNd.create(scope, Constant.vectorOf(scope, new byte[] {1, (byte) 200}), one).asTensor();
    TBool bools = GatherNd.create(scope, Constant.vectorOf(scope, new boolean[] {false, true}), one).asTensor();
    System.out.println(doubles.getDouble(0) + " " + ints.getInt(0) + " " + longs.getLong(0));
    System.out.println(bytes.getByte(0) + " " + bools.getBoolean(0));
    smallNumbers();
    strings();
  }

  private void smallNumbers() {
    float[][] numbers = {
      {0, -0f, 1.5f, 65504, 65519, 65520, Float.NaN, Float.NEGATIVE_INFINITY, 6e-8f, 3e-8f},
      {1.00048828125f, 1.00146484375f, 0.1f, -2049, 1e-40f, 3.4e38f, -1e-6f, 2051, 1.00390625f, 1.01171875f}
    };
    Operand<TInt64> all = Constant.tensorOf(scope, new long[][] {{1}, {0}});
    TFloat16 halves = GatherNd.create(scope, Constant.create(scope, TFloat16.tensorOf(StdArrays.ndCopyOf(numbers))), all)
        .asTensor();
    Operand<TBfloat16> source = Constant.create(scope, TBfloat16.tensorOf(StdArrays.ndCopyOf(numbers)));
    TBfloat16 upper = GatherNd.create(scope, source, all).asTensor();
    StringBuilder line = new StringBuilder();
    for (long i = 0; i < 20; i++) {
      line.append(String.format(" %08x", Float.floatToRawIntBits(halves.getFloat(i / 10, i % 10))));
      line.append(String.format(" %08x", Float.floatToRawIntBits(upper.getFloat(i / 10, i % 10))));
    }
    System.out.println(halves.shape() + line.toString());
    System.out.println(source.asOutput().dataType().getNumber() + " " + source.type().getSimpleName());

    Operand<TUint16> shorts =
        Constant.create(
            scope,
            TUint16.tensorOf(
                Shape.of(3),
                data -> {
                  for (long i = 0; i < 3; i++) {
                    data.setShort((short) (20_000 * i), i);
                  }
                }));
    Operand<TInt32> last = Constant.tensorOf(scope, new int[][] {{2}, {0}});
    TUint16 gathered = GatherNd.create(scope, shorts, last).asTensor();
    System.out.println(gathered.getShort(0) + " " + gathered.getShort(1) + " " + TUint16.vectorOf().shape().size());
    Operand<TFloat16> added =
        TensorScatterNdAdd.create(
            scope,
            Constant.create(scope, TFloat16.vectorOf(1, 2, 2048)),
            last,
            Constant.create(scope, TFloat16.vectorOf(1, 0.25f)));
    System.out.println(added.asTensor().getFloat(0) + " " + added.asTensor().getFloat(2));
    System.out.println(TBfloat16.scalarOf(3.14159f).getFloat() + " " + TFloat16.scalarOf(3.14159f).getFloat());
    System.out.println(added.asOutput().dataType().getNumber() + " " + shorts.asOutput().dataType().getNumber());
  }

  private void strings() {
    Operand<TString> words =
        Constant.tensorOf(scope, new String[][] {{"zero", "\u00fcber"}, {"", "\u4e09"}, {"x\0y", "a long text of words"}});
    Operand<TInt32> tuples = Constant.tensorOf(scope, new int[][] {{2, 1}, {0, 1}, {1, 0}, {2, 0}});
    TString found = GatherNd.create(scope, words, tuples).asTensor();
    for (long i = 0; i < found.shape().size(); i++) {
      System.out.println(found.getObject(i) + " " + Arrays.toString(found.asBytes().getObject(i)));
    }
    TString rows = GatherNd.create(scope, words, Constant.tensorOf(scope, new int[][] {{1}})).asTensor();
    System.out.println(rows.shape() + rows.getObject(0, 1) + rows.getObject(0, 0));
    TString columns = Gather.create(scope, words, Constant.vectorOf(scope, new int[] {1}), Constant.scalarOf(scope, 1))
        .asTensor();
    System.out.println(columns.shape() + columns.getObject(2, 0));
    TString ignored = GatherNd.create(scope, words, Constant.tensorOf(scope, new int[][] {{9, 0}, {0, 0}}),
        GatherNd.badIndicesPolicy("IGNORE")).asTensor();
    System.out.println("[" + ignored.getObject(0) + "] " + ignored.getObject(1));
    Operand<TString> updates = Constant.arrayOf(scope, "first", "second");
    TString updated = TensorScatterNdUpdate.create(scope, Constant.vectorOf(scope, new String[] {"a", "b", "c"}),
        Constant.tensorOf(scope, new int[][] {{2}, {0}}), updates).asTensor();
    System.out.println(updated.getObject(0) + updated.getObject(1) + updated.getObject(2));
    System.out.println(words.asOutput().dataType().getNumber() + " " + words.type().getSimpleName());
    TString latin = TString.tensorOf(StandardCharsets.ISO_8859_1, NdArrays.vectorOfObjects("\u00fc", "b"));
    TString given = GatherNd.create(scope, Constant.create(scope, latin), Constant.tensorOf(scope, new int[][] {{0}}))
        .asTensor();
    System.out.println(given.using(StandardCharsets.ISO_8859_1).getObject(0) + given.asBytes().getObject(0).length);
    TString raw = TString.tensorOfBytes(NdArrays.vectorOfObjects(new byte[] {-1, 0, 7}, new byte[0]));
    System.out.println(Arrays.toString(raw.asBytes().getObject(0)) + TString.scalarOf("one").getObject());
    try {
      GatherNd.create(scope, words, Constant.tensorOf(scope, new int[][] {{0, 2}}));
      System.out.println("strings: no error");
    } catch (TFInvalidArgumentException e) {
      System.out.println("strings: invalid argument");
    }
  }

  private void fails(String name, Operand<? extends TNumber> indices, GatherNd.Options... options) {
    try {
      GatherNd.create(scope, zeros(), indices, options);
      System.out.println(name + ": no error");
    } catch (TFInvalidArgumentException e) {
      System.out.println(name + ": invalid argument");
    }
  }

  private static void print(String name, Operand<TFloat32> operand) {
    Output<TFloat32> output = operand.asOutput();
    TFloat32 tensor = output.asTensor();
    long[] shape = output.shape().asArray();
    StringBuilder line = new StringBuilder(name + " " + Arrays.toString(shape));
    long[] at = new long[shape.length];
    for (long element = 0; element < output.shape().size(); element++) {
      long rest = element;
      for (int dim = shape.length - 1; dim >= 0; dim--) {
        at[dim] = rest % shape[dim];
        rest /= shape[dim];
      }
      line.append(String.format(" %08x", Float.floatToRawIntBits(tensor.getFloat(at))));
    }
    System.out.println(line);
    System.out.println(
        output.index() + " " + output.rank() + " " + output.dataType().getNumber() + " " + output.type().getSimpleName());
  }
}
