package io.libgather.tf;

import io.libgather.Bounds;
import io.libgather.Options;
import io.libgather.Profile;

/** The attribute bad_indices_policy, which the options of an operation set. */
abstract class Policy {
  String policy = "";

  /** Returns options with the last policy. {@code ignored} is the meaning of ignored indices. */
  static Options.Builder of(Bounds ignored, Policy... given) {
    Options.Builder options = Options.builder().profile(Profile.TENSORFLOW);
    String policy = given.length == 0 ? "" : given[given.length - 1].policy;
    return switch (policy) {
      case "", "DEFAULT", "ERROR" -> options;
      case "IGNORE" -> options.bounds(ignored);
      default -> throw new TFInvalidArgumentException("bad_indices_policy must be DEFAULT, ERROR or IGNORE", null);
    };
  }
}
