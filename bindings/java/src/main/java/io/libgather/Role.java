package io.libgather;

import io.libgather.internal.Gth;

/**
 * A place for an operand in a request.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
enum Role {
  TABLE(Gth.Request.TABLE),
  INDICES(Gth.Request.INDICES),
  ROWS(Gth.Request.ROWS),
  BAGS(Gth.Request.BAGS),
  WEIGHTS(Gth.Request.WEIGHTS);

  /** The roles in the order of a request. */
  static final Role[] ALL = values();

  /** The offset in gth_request. */
  final long offset;

  Role(long offset) {
    this.offset = offset;
  }
}
