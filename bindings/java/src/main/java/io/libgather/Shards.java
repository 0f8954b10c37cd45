package io.libgather;

import static io.libgather.Given.given;

import io.libgather.internal.Gth;

/** The distribution of the rows of a table over shards. Immutable. */
public final class Shards {
  final int kind;
  final long rows;
  final long count;
  final long[] borders;

  private Shards(int kind, long rows, long count, long[] borders) {
    this.kind = kind;
    this.rows = rows;
    this.count = count;
    this.borders = borders;
  }

  /**
   * Returns shards of consecutive rows. All but the last ones have the same number of rows.
   *
   * @param rows the number of rows of the table
   * @param count the number of shards
   * @return the distribution
   */
  public static Shards blocks(long rows, int count) {
    return new Shards(Gth.SHARDS_BLOCKS, rows, count, null);
  }

  /**
   * Returns shards in which row r is row r / count of shard r % count.
   *
   * @param rows the number of rows of the table
   * @param count the number of shards
   * @return the distribution
   */
  public static Shards modulo(long rows, int count) {
    return new Shards(Gth.SHARDS_MODULO, rows, count, null);
  }

  /**
   * Returns shards with given borders. Shard s has the rows from borders[s] up to borders[s + 1].
   *
   * @param borders non-decreasing numbers, from 0 to the number of rows
   * @return the distribution
   * @throws IllegalArgumentException if there are fewer than two borders
   */
  public static Shards borders(long... borders) {
    if (given(borders, "borders").length < 2) {
      throw new IllegalArgumentException("a shard has two borders");
    }
    return new Shards(Gth.SHARDS_BORDERS, borders[borders.length - 1], borders.length - 1L, borders.clone());
  }
}
