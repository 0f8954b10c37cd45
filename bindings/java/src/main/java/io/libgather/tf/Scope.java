package io.libgather.tf;

/** The scope of an operation. Operations run at once, so a scope has no state. */
public final class Scope {
  Scope() {}
}
