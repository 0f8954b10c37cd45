package io.libgather.tf;

import io.libgather.Options;
import io.libgather.Profile;

/** The attribute bad_indices_policy. */
final class Policy {
  private Policy() {}

  /** Returns options with the profile of a policy. On a GPU TensorFlow ignores bad indices. */
  static Options.Builder options(String policy) {
    Profile profile =
        switch (policy) {
          case "", "DEFAULT", "ERROR" -> Profile.TENSORFLOW;
          case "IGNORE" -> Profile.TENSORFLOW_GPU;
          default ->
              throw new TFInvalidArgumentException("bad_indices_policy must be DEFAULT, ERROR or IGNORE", null);
        };
    return Options.builder().profile(profile);
  }
}
