package io.libgather;

/**
 * A failed call of the library. Each exception of this package is one of these.
 *
 * <p>If a call throws, its output is unchanged. The only exceptions are {@link Status#RACE}, {@link Status#IO}, and
 * {@link Status#INDEX} with {@link Bounds#ERROR_PARTIAL}.
 */
public sealed interface GatherFailure
    permits GatherArgumentException,
        GatherIndexException,
        GatherStateException,
        GatherSystemException,
        GatherUnsupportedException {

  /**
   * Returns the fields of the error.
   *
   * @return the fields
   */
  ErrorDetails details();

  /**
   * Returns the status of the call.
   *
   * @return the status
   */
  default Status status() {
    return details().status();
  }
}
