package io.libgather.tf;

/** Checks of arguments, as those of TensorFlow: null is a NullPointerException. */
final class Given {
  private Given() {}

  /** Returns an argument. Throws a NullPointerException that names the parameter if it is null. */
  static <T> T given(T argument, String parameter) {
    if (argument == null) {
      throw new NullPointerException(parameter + " is null");
    }
    return argument;
  }
}
