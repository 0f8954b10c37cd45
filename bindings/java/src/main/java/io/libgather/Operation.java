package io.libgather;

/**
 * An operation of the library.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Operation {
  /** GTH_OP_GATHER of gather.h. */
  GATHER(1, Kind.GATHER),
  /** GTH_OP_GATHER_ND of gather.h. */
  GATHER_ND(2, Kind.GATHER),
  /** GTH_OP_GATHER_ELEMENTS of gather.h. */
  GATHER_ELEMENTS(3, Kind.GATHER),
  /** GTH_OP_SCATTER of gather.h. */
  SCATTER(4, Kind.SCATTER),
  /** GTH_OP_SCATTER_ND of gather.h. */
  SCATTER_ND(5, Kind.SCATTER),
  /** GTH_OP_SCATTER_ELEMENTS of gather.h. */
  SCATTER_ELEMENTS(6, Kind.SCATTER),
  /** GTH_OP_GATHER_GRADIENT of gather.h. */
  GATHER_GRADIENT(7, Kind.GRADIENT),
  /** The gradient of gather_nd, as GTH_OP_GATHER_GRADIENT. */
  GATHER_ND_GRADIENT(8, Kind.GRADIENT),
  /** The gradient of gather_elements, as GTH_OP_GATHER_GRADIENT. */
  GATHER_ELEMENTS_GRADIENT(9, Kind.GRADIENT),
  /** GTH_OP_GATHER_BAGS of gather.h. */
  GATHER_BAGS(10, Kind.BAGS);

  final int number;
  final Kind kind;

  Operation(int number, Kind kind) {
    this.number = number;
    this.kind = kind;
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
