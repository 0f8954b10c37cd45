import io.libgather.Gather
import io.libgather.Tensor

/** Gathers rows of a table by id. */
fun main() {
    val table = Tensor.of(floatArrayOf(0f, 1f, 10f, 11f, 20f, 21f, 30f, 31f), 4, 2)
    val ids = longArrayOf(3, 0, 3)
    val rows = Gather.gather(table, Tensor.of(ids)).toFloatArray()
    ids.forEachIndexed { i, id -> println("$id: ${rows[2 * i].toInt()} ${rows[2 * i + 1].toInt()}") }
}
