package io.libgather.tf;

import static java.util.Objects.requireNonNull;

import io.libgather.Bounds;
import io.libgather.Options;
import io.libgather.Profile;

/** The attribute bad_indices_policy, which the options of an operation set. */
abstract class Policy {
  String policy = "";

  /** Returns options with the last policy. {@code ignored} is the meaning of ignored indices. */
  static Options.Builder of(Bounds ignored, Policy... options) {
    Options.Builder settings = Options.builder().profile(Profile.TENSORFLOW);
    String policy = "";
    if (requireNonNull(options, "options is null").length > 0) {
      policy = requireNonNull(options[options.length - 1], "options is null").policy;
    }
    return switch (policy) {
      case "", "DEFAULT", "ERROR" -> settings;
      case "IGNORE" -> settings.bounds(ignored);
      default -> throw new TFInvalidArgumentException("bad_indices_policy must be DEFAULT, ERROR or IGNORE", null);
    };
  }
}
