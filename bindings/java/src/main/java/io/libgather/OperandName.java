package io.libgather;

/**
 * The operand to which an error belongs.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum OperandName {
  /** GTH_OPERAND_NONE of gather.h. */
  NONE(0),
  /** Table of a gather; source of a copy. */
  PARAMS(1),
  /** Indices. */
  INDICES(2),
  /** Rows of a gather; destination of a copy. */
  OUT(3),
  /** GTH_OPERAND_OPTIONS of gather.h. */
  OPTIONS(4),
  /** GTH_OPERAND_CONTEXT of gather.h. */
  CONTEXT(5),
  /** The plan, or gth_plan_args. */
  PLAN(6),
  /** The tensor, description or foreign struct of a call that has only one. */
  TENSOR(7),
  /** Table of a scatter or a gradient. */
  TARGET(8),
  /** Rows of a scatter or a gradient. */
  UPDATES(9),
  /** GTH_OPERAND_REQUEST of gather.h. */
  REQUEST(10),
  /** Bags of gather_bags. */
  BAGS(11),
  /** Weights of gather_bags. */
  WEIGHTS(12),
  /** The codec of a packed table. */
  CODEC(13),
  /** A segment of a table in files. */
  FILE(14),
  /** Scales of a packed table. */
  SCALES(15),
  /** Zero points or biases of a packed table. */
  ZEROS(16);

  final int number;

  OperandName(int number) {
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
