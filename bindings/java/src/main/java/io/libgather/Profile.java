package io.libgather;

/**
 * The system whose results a call has in every edge case.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Profile {
  /** TensorFlow on the CPU: an index below 0 is an error. */
  TENSORFLOW(1),
  /** TensorFlow on a GPU: an index out of bounds gives zeros. */
  TENSORFLOW_GPU(2),
  /** ONNX, the specification: negative indices wrap, no K = 0, types by opset. */
  ONNX(3),
  /** ONNX Runtime on the CPU. */
  ORT(4),
  /** NumPy's take(mode="raise") and x[i, j]: negative indices wrap. */
  NUMPY_RAISE(5),
  /** NumPy's take(mode="wrap"): an index modulo the size. */
  NUMPY_WRAP(6),
  /** NumPy's take(mode="clip"): the nearest index, 0 for a negative one. */
  NUMPY_CLIP(7),
  /** torch's index_select for gather, and x[i, j] for gather_nd. */
  TORCH(8),
  /** jnp.take(mode="fill"), x.at[].get(mode="fill"). */
  JAX_FILL(9),
  /** jnp.take(mode="clip"), x.at[].get(mode="clip"). */
  JAX_CLIP(10);

  final int number;

  Profile(int number) {
    this.number = number;
  }

  /**
   * Returns the number of this constant in gather.h.
   *
   * @return the number
   */
  public int number() {
    return number;
  }
}
