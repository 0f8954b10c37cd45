/** Reads and writes rows, slices and elements of tensors by index. */
module io.libgather {
  exports io.libgather;
  exports io.libgather.tf;
}
