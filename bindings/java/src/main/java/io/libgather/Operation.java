package io.libgather;

/**
 * An operation of the library.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Operation {
  /** GTH_OP_GATHER of gather.h. */
  GATHER(1, Kind.GATHER, false, false),
  /** GTH_OP_GATHER_ND of gather.h. */
  GATHER_ND(2, Kind.GATHER, false, true),
  /** GTH_OP_GATHER_ELEMENTS of gather.h. */
  GATHER_ELEMENTS(3, Kind.GATHER, true, false),
  /** GTH_OP_SCATTER of gather.h. */
  SCATTER(4, Kind.SCATTER, false, false),
  /** GTH_OP_SCATTER_ND of gather.h. */
  SCATTER_ND(5, Kind.SCATTER, false, true),
  /** GTH_OP_SCATTER_ELEMENTS of gather.h. */
  SCATTER_ELEMENTS(6, Kind.SCATTER, true, false),
  /** GTH_OP_GATHER_GRADIENT of gather.h. */
  GATHER_GRADIENT(7, Kind.GRADIENT, false, false),
  /** The gradient of gather_nd, as GTH_OP_GATHER_GRADIENT. */
  GATHER_ND_GRADIENT(8, Kind.GRADIENT, false, true),
  /** The gradient of gather_elements, as GTH_OP_GATHER_GRADIENT. */
  GATHER_ELEMENTS_GRADIENT(9, Kind.GRADIENT, true, false),
  /** GTH_OP_GATHER_BAGS of gather.h. */
  GATHER_BAGS(10, Kind.BAGS, false, false);

  final int number;
  final Kind kind;

  /** True if the dims of all operands correspond. */
  final boolean isPaired;

  /** True if the last dim of indices has the components of a tuple. */
  final boolean hasTuples;

  Operation(int number, Kind kind, boolean isPaired, boolean hasTuples) {
    this.number = number;
    this.kind = kind;
    this.isPaired = isPaired;
    this.hasTuples = hasTuples;
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
