package io.libgather;

import static io.libgather.Given.given;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.libgather.internal.Gth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Ids that are partitioned by the shards of a table.
 *
 * <pre>{@code
 * Partition parts = Partition.of(Tensor.of(new long[] {7, 0, 8, 3}), Shards.borders(0, 4, 10), Options.DEFAULT);
 * // counts: 2, 2; local: 0, 3, 3, 4; order: 1, 3, 0, 2
 * }</pre>
 *
 * @param counts for each shard, the number of rows that are requested from it
 * @param local the row numbers within their shards, those of shard 0 first
 * @param order for each element of local the position of its id, or null after {@link #once}
 * @param place for each id the position of its row in local, or -1 if it is skipped
 */
public record Partition(long[] counts, long[] local, long[] order, long[] place) {
  /**
   * Partitions ids. The order of the ids is kept within a shard.
   *
   * @param ids integers of any shape
   * @param shards the distribution of the rows
   * @param options negative, bounds, profile and threads
   * @return the partition
   * @throws GatherIndexException if an id is out of bounds
   */
  public static Partition of(Tensor ids, Shards shards, Options options) {
    return run(ids, shards, options, 0);
  }

  /**
   * Partitions ids, and requests each row once, even if several ids select it.
   *
   * @param ids integers of any shape
   * @param shards the distribution of the rows
   * @param options negative, bounds, profile and threads
   * @return the partition, in which order is null
   * @throws GatherIndexException if an id is out of bounds
   */
  public static Partition once(Tensor ids, Shards shards, Options options) {
    return run(ids, shards, options, Gth.PARTS_ONCE);
  }

  /** Returns the numbers of all components. */
  @Override
  public String toString() {
    return "Partition[counts="
        + Arrays.toString(counts)
        + ", local="
        + Arrays.toString(local)
        + ", order="
        + Arrays.toString(order)
        + ", place="
        + Arrays.toString(place)
        + "]";
  }

  private static Partition run(Tensor ids, Shards shards, Options options, int flags) {
    long size = given(ids, "ids").size();
    given(shards, "shards");
    given(options, "options");
    try (Arena arena = Arena.ofConfined()) {
      Tensor copy = ids.over(Heap.copied(arena, ids.segment));
      MemorySegment described = describe(arena, shards);
      MemorySegment parts = arena.allocate(Gth.Parts.BYTES, 8);
      MemorySegment counts = arena.allocate(JAVA_LONG, Math.max(shards.count, 0));
      MemorySegment local = arena.allocate(JAVA_LONG, size);
      MemorySegment order = flags == 0 ? arena.allocate(JAVA_LONG, size) : MemorySegment.NULL;
      MemorySegment place = arena.allocate(JAVA_LONG, size);
      Scratch scratch = Scratch.take();
      try {
        MemorySegment desc = scratch.describe(Role.INDICES, copy);
        MemorySegment bytes = arena.allocate(JAVA_LONG);
        int status = Gth.partitionScratch(desc, described, flags, bytes, scratch.error);
        if (status == 0) {
          long scratchBytes = bytes.get(JAVA_LONG, 0);
          parts.set(JAVA_INT, Gth.Parts.SIZE, (int) Gth.Parts.BYTES);
          parts.set(JAVA_INT, Gth.Parts.FLAGS, flags);
          parts.set(JAVA_LONG, Gth.Parts.CAPACITY, size);
          parts.set(ADDRESS, Gth.Parts.COUNTS, counts);
          parts.set(ADDRESS, Gth.Parts.LOCAL, local);
          parts.set(ADDRESS, Gth.Parts.ORDER, order);
          parts.set(ADDRESS, Gth.Parts.PLACE, place);
          parts.set(ADDRESS, Gth.Parts.SCRATCH, arena.allocate(scratchBytes, 64));
          parts.set(JAVA_LONG, Gth.Parts.SCRATCH_BYTES, scratchBytes);
          status =
              Gth.partition(
                  Calls.context(options),
                  desc,
                  described,
                  scratch.describe(options),
                  parts,
                  scratch.error,
                  copy.segment);
        }
        if (status != 0) {
          throw scratch.failure(status);
        }
      } finally {
        scratch.give();
      }
      long[] numbers = counts.toArray(JAVA_LONG);
      long requested = 0;
      for (long number : numbers) {
        requested += number;
      }
      return new Partition(
          numbers,
          local.asSlice(0, 8 * requested).toArray(JAVA_LONG),
          flags == 0 ? order.asSlice(0, 8 * requested).toArray(JAVA_LONG) : null,
          place.toArray(JAVA_LONG));
    }
  }

  private static MemorySegment describe(Arena arena, Shards shards) {
    MemorySegment described = arena.allocate(Gth.Shards.BYTES, 8);
    described.set(JAVA_INT, Gth.Shards.SIZE, (int) Gth.Shards.BYTES);
    described.set(JAVA_INT, Gth.Shards.KIND, shards.kind);
    described.set(JAVA_LONG, Gth.Shards.ROWS, shards.rows);
    described.set(JAVA_LONG, Gth.Shards.COUNT, shards.count);
    if (shards.borders != null) {
      described.set(ADDRESS, Gth.Shards.BORDERS, arena.allocateFrom(JAVA_LONG, shards.borders));
    }
    return described;
  }
}
