/**
 * Gathers, scatters and gradients by index. {@link io.libgather.Gather} has the operations.
 *
 * <p>Java 22 or newer is required, and the option {@code --enable-native-access=io.libgather}.
 */
package io.libgather;
