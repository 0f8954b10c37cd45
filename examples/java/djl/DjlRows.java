import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import io.libgather.Gather;
import io.libgather.Tensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Takes rows of an array of DJL with the engine of PyTorch, without a copy of the table. */
final class DjlRows {
  private DjlRows() {}

  /** Returns the rows of a table of float32. The ids are int64. */
  static NDArray rows(NDArray table, NDArray ids) {
    Tensor tableView = Tensor.of(memory(table).asFloatBuffer(), table.getShape().getShape());
    Tensor idsView = Tensor.of(memory(ids).asLongBuffer(), ids.getShape().getShape());
    Shape shape = ids.getShape().addAll(table.getShape().slice(1));
    NDArray rows = table.getManager().create(shape, table.getDataType());
    Gather.gatherInto(Tensor.of(memory(rows).asFloatBuffer(), shape.getShape()), tableView, idsView);
    return rows;
  }

  /** Returns the memory of an array. The array must be on the CPU and contiguous, and open as long as it is used. */
  private static ByteBuffer memory(NDArray array) {
    return array.toByteBuffer(true).order(ByteOrder.nativeOrder());
  }

  public static void main(String[] arguments) {
    try (NDManager manager = NDManager.newBaseManager()) {
      NDArray table = manager.create(new float[] {0, 1, 2, 3, 4, 5}, new Shape(3, 2));
      NDArray ids = manager.create(new long[] {2, 0});
      System.out.println(Arrays.toString(rows(table, ids).toFloatArray()));
      if (!rows(table, ids).equals(table.get(ids))) {
        throw new AssertionError("the rows differ from those of DJL");
      }
    }
  }
}
