package io.libgather;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.libgather.internal.Gth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The loaded library and what it can do on this machine.
 *
 * @param abi the number of its ABI
 * @param version its release, such as 0.1.0
 * @param threads the number of threads that a call uses by default
 * @param tier the number of the instruction set of its kernels, GTH_TIER_* of gather.h
 * @param cudaDevices the number of usable CUDA devices
 */
public record Capabilities(int abi, String version, int threads, int tier, int cudaDevices) {
  /**
   * Returns the capabilities of the loaded library.
   *
   * @return the capabilities
   */
  public static Capabilities get() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = arena.allocate(Gth.CapabilityInfo.BYTES, 8);
      info.set(JAVA_INT, Gth.CapabilityInfo.SIZE, (int) Gth.CapabilityInfo.BYTES);
      int status = Gth.capabilities(info, MemorySegment.NULL);
      if (status != 0) {
        throw new IllegalStateException("gth_capabilities returned " + status);
      }
      int version = info.get(JAVA_INT, Gth.CapabilityInfo.VERSION);
      return new Capabilities(
          info.get(JAVA_INT, Gth.CapabilityInfo.ABI),
          version / 1_000_000 + "." + version / 1000 % 1000 + "." + version % 1000,
          info.get(JAVA_INT, Gth.CapabilityInfo.CPU_THREADS),
          info.get(JAVA_INT, Gth.CapabilityInfo.CPU_TIER),
          info.get(JAVA_INT, Gth.CapabilityInfo.DEVICE_COUNT));
    }
  }

  /**
   * Ends the threads of the library. The next large call starts threads again. It must not run at the same time as
   * other calls.
   */
  public static void shutdown() {
    Gth.shutdown();
  }
}
