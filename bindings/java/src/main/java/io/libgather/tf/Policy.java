package io.libgather.tf;

import io.libgather.Options;
import io.libgather.Profile;

/** The attribute bad_indices_policy, which the options of an operation set. */
abstract class Policy {
  String policy = "";

  /** Returns options with the profile of the last policy. On a GPU TensorFlow ignores bad indices. */
  static Options.Builder of(Policy... given) {
    String policy = given.length == 0 ? "" : given[given.length - 1].policy;
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
