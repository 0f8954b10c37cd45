package io.libgather.tf;

/** A session in which operations run at once. It holds no resources. */
public final class EagerSession implements AutoCloseable {
  private EagerSession() {}

  /**
   * Creates a session.
   *
   * @return a session
   */
  public static EagerSession create() {
    return new EagerSession();
  }

  /**
   * Returns the scope of operations.
   *
   * @return the scope
   */
  public Scope baseScope() {
    return new Scope();
  }

  @Override
  public void close() {}
}
