package io.libgather;

/**
 * A kind of operations: their operands.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
enum Kind {
  GATHER(Role.ROWS, OperandName.PARAMS, OperandName.INDICES, OperandName.OUT),
  SCATTER(Role.TABLE, OperandName.TARGET, OperandName.INDICES, OperandName.UPDATES),
  GRADIENT(Role.TABLE, OperandName.TARGET, OperandName.INDICES, OperandName.UPDATES);

  /** The role of the operand that is written. */
  final Role written;

  private final OperandName[] names;

  Kind(Role written, OperandName... names) {
    this.written = written;
    this.names = names;
  }

  /** Returns the name of the operand with a role, or null if there is none. */
  OperandName name(Role role) {
    return names[role.ordinal()];
  }
}
