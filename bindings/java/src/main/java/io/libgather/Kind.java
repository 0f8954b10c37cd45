package io.libgather;

/**
 * A kind of operations: their operands.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
enum Kind {
  GATHER(Role.ROWS, OperandName.PARAMS, OperandName.INDICES, OperandName.OUT, null, null),
  SCATTER(Role.TABLE, OperandName.TARGET, OperandName.INDICES, OperandName.UPDATES, null, null),
  GRADIENT(Role.TABLE, OperandName.TARGET, OperandName.INDICES, OperandName.UPDATES, null, null),
  BAGS(Role.ROWS, OperandName.PARAMS, OperandName.INDICES, OperandName.OUT, OperandName.BAGS, OperandName.WEIGHTS);

  /** The role of the operand that is written. */
  final Role written;

  private final OperandName table;
  private final OperandName indices;
  private final OperandName rows;
  private final OperandName bags;
  private final OperandName weights;

  Kind(Role written, OperandName table, OperandName indices, OperandName rows, OperandName bags, OperandName weights) {
    this.written = written;
    this.table = table;
    this.indices = indices;
    this.rows = rows;
    this.bags = bags;
    this.weights = weights;
  }

  /** Returns the name of the operand with a role, or null if there is none. */
  OperandName name(Role role) {
    return switch (role) {
      case TABLE -> table;
      case INDICES -> indices;
      case ROWS -> rows;
      case BAGS -> bags;
      case WEIGHTS -> weights;
    };
  }
}
