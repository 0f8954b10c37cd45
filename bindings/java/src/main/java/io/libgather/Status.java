package io.libgather;

/**
 * The status of a failed call.
 *
 * <p>Generated from gather.h by ./dev generate: do not edit.
 */
public enum Status {
  /** A required pointer is NULL, or data is NULL and elements are read or written. */
  NULL(-1),
  /** The handle is released, of another kind, or was never one. */
  HANDLE(-2),
  /** The struct size, operation, switch, profile or flag is unknown or not valid here. */
  VERSION(-3),
  /** The dtype is unknown, not allowed here, or differs from the required one. */
  DTYPE(-4),
  /** The rank is negative, too small, too large, or differs from the required one. */
  RANK(-5),
  /** The axis is outside [-rank, rank), below batch_dims, or the operation has none. */
  AXIS(-6),
  /** batch_dims is out of range, or batch extents of params and indices differ. */
  BATCH(-7),
  /** An extent is negative or differs from the required one, or a tuple is too long. */
  SHAPE(-8),
  /** A product of extents exceeds int64, or a capacity is too small. */
  SIZE(-9),
  /** Strides leave the described memory, or elements of an output overlap. */
  STRIDE(-10),
  /** The device is unknown or absent, devices differ, or the build has no CUDA. */
  DEVICE(-11),
  /** The DLPack struct is malformed. */
  DLPACK(-12),
  /** The Arrow struct is malformed. */
  ARROW(-13),
  /** Read-only memory is an output, or a DLPack export has no flag for it. */
  READONLY(-14),
  /** The byte range of an output overlaps the byte range of another operand. */
  ALIAS(-15),
  /** With bounds = error an index is out of bounds, or a dim of extent 0 is indexed. */
  INDEX(-16),
  /** Another thread changed indices or offsets during the call. See gth_run. */
  RACE(-17),
  /** Memory could not be allocated. */
  NOMEM(-18),
  /** CUDA was used in a child process after fork. */
  FORK(-19),
  /** A CUDA call failed. gth_error.native has its number. */
  CUDA(-20),
  /** The operation cannot be captured into a CUDA graph. */
  CAPTURE(-21),
  /** The request is valid, but this kind of operand or device does not support it. */
  UNSUPPORTED(-22),
  /** The library has a defect. */
  INTERNAL(-23),
  /** Offsets, lengths or segments of bags are invalid, or a bag is empty. */
  OFFSETS(-24),
  /** A file could not be opened or read. gth_error.native is errno. */
  IO(-25);

  final int number;

  Status(int number) {
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
