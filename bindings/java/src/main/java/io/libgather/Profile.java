package io.libgather;

/**
 * A set of rules that makes the library return the results of another system.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Profile {
  /** CPU kernels: no negative indices, error. */
  TENSORFLOW(1),
  /** GPU kernels: no negative indices, zeros. */
  TENSORFLOW_GPU(2),
  /** The specification: negatives wrap, error, K = 0 is invalid, types by opset. */
  ONNX(3),
  /** ONNX Runtime on the CPU. */
  ORT(4),
  /** take(mode="raise"), x[i, j]: negatives wrap, error. */
  NUMPY_RAISE(5),
  /** take(mode="wrap"): modulo. */
  NUMPY_WRAP(6),
  /** take(mode="clip"): clamp, negatives become 0. */
  NUMPY_CLIP(7),
  /** index_select for gather: no negatives; x[i, j] for gather_nd: negatives wrap. */
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
