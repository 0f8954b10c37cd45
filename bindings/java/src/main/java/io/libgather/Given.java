package io.libgather;

import java.util.Locale;

/** Checks of arguments, and their names in messages. */
final class Given {
  private Given() {}

  /** Returns an argument. Throws a NullPointerException that names the parameter if it is null. */
  static <T> T given(T argument, String parameter) {
    if (argument == null) {
      throw new NullPointerException(parameter + " is null");
    }
    return argument;
  }

  /** Returns the name of an operand in messages. */
  static String text(OperandName name) {
    return name.name().toLowerCase(Locale.ROOT);
  }
}
