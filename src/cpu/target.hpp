#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/block.hpp"
#include "cpu/job.hpp"
#include "cpu/parts.hpp"

// Iterates over the updates of a part of the target of a scatter.
namespace gather::cpu {

// Returns the target, which is the table of the job. lower() has checked that it is writable.
inline char* target_of(const Job& job) { return const_cast<char*>(job.table); }

// A block of updates in the order of their positions. The i-th update is at updates + from[i] in the rows of the job.
// Its slice is at target + offsets[i] in the table of the job. All numbers are bytes.
struct Updates {
  int64_t target, updates;
  const int64_t *offsets, *from;
  int64_t count;
};

// Filters the updates of a block by the part of the target that they select.
class UpdateFilter {
 public:
  // Returns the updates whose slices begin in a range. The j-th offset belongs to the update at from[j]. no_row is in
  // no range.
  Updates in_range(const int64_t* offsets, const int64_t* from, int64_t count, const Range& range) {
    const uint64_t span = static_cast<uint64_t>(range.high) - static_cast<uint64_t>(range.low);
    return choose(offsets, from, count, [&](int64_t offset) {
      return static_cast<uint64_t>(offset) - static_cast<uint64_t>(range.low) <= span;
    });
  }
  // Returns the updates whose slices begin in the stripes. `low` is the offset of the first stripe.
  Updates in_stripes(const int64_t* offsets, const int64_t* from, int64_t count, int64_t low, const Stripes& stripes) {
    return choose(offsets, from, count,
                  [&](int64_t offset) { return offset != no_row && stripes.contain(offset - low); });
  }

 private:
  template <class Has>
  Updates choose(const int64_t* offsets, const int64_t* from, int64_t count, Has&& has) {
    int64_t n = 0;
    for (int64_t i = 0; i < count; ++i) {
      offsets_[n] = offsets[i];
      from_[n] = from[i];
      n += has(offsets[i]);
    }
    return {0, 0, offsets_, from_, n};
  }

  int64_t offsets_[block_tuples], from_[block_tuples];
};

// Merges short lines of contiguous indices, so that a block contains the tuples of several lines.
class MergedLines {
 public:
  explicit MergedLines(const Job& job) : line_(job.copying.line) {
    if (job.copying.outer_count == 0) return;
    const SizedLoop& next = job.copying.outer[job.copying.outer_count - 1];
    if (next.indices != wrapping_multiply(line_.extent, line_.indices) || line_.extent > block_tuples / 2) return;
    max_lines_ = std::min(block_tuples / line_.extent, next.extent);
    next_table_ = next.table;
    next_rows_ = next.rows;
  }

  int64_t max_lines() const { return max_lines_; }

  // Returns the range of the slices of `lines` lines. `of_line` is the range of one line.
  Range reach(Range of_line, int64_t lines) const {
    widen(lines, next_table_, &of_line);
    return of_line;
  }
  // Computes the offset of each update of a block from the first update.
  void find_update_offsets(int64_t* from) const {
    int64_t at = 0;
    for (int64_t line = 0; line < max_lines_; ++line) {
      for (int64_t j = 0; j < line_.extent && at < block_tuples; ++j, ++at) {
        from[at] = wrapping_multiply(line, next_rows_) + wrapping_multiply(j, line_.rows);
      }
    }
  }
  // Adds the distances between lines to offsets that were resolved as those of one line.
  void add_line_offsets(int64_t lines, int64_t* offsets) const {
    const int64_t between = next_table_ - wrapping_multiply(line_.extent, line_.table);
    for (int64_t line = 1; line < lines; ++line) {
      for (int64_t j = line * line_.extent; j < (line + 1) * line_.extent; ++j) {
        if (offsets[j] != no_row) offsets[j] += wrapping_multiply(line, between);
      }
    }
  }

 private:
  const SizedLoop& line_;
  int64_t max_lines_ = 1, next_table_ = 0, next_rows_ = 0;
};

// Calls on_updates(Updates) for the updates of a part. Updates of one slice keep the order of their positions. Returns
// false if an index has become invalid after its validation.
template <class OnUpdates>
bool for_updates_of(const Part& part, OnUpdates&& on_updates) {
  const Job& job = part.job;
  const Range& range = part.range;
  const SizedLoop& line = job.copying.line;
  const Range reach = range_of_line(job);
  const MergedLines merged(job);
  int64_t from[block_tuples];
  merged.find_update_offsets(from);
  ResolvedBlock block;
  UpdateFilter filter;
  LineIterator lines(job.copying);
  int64_t left = job.slices / line.extent;
  for (int64_t now; left > 0; left -= now, lines.skip(now)) {
    now = std::min({left, merged.max_lines(), lines.run()});
    const Range range_in_line{range.low - lines.table(), range.high - lines.table()};
    const Range within = merged.reach(reach, now);
    if (!range_in_line.overlaps(within)) continue;
    for (int64_t j = 0; j < line.extent * now; j += block_tuples) {
      const int64_t count = std::min(block_tuples, line.extent * now - j),
                    line_offset = wrapping_multiply(j, line.table);
      const char* const tuples = moved(job.indices, lines.indices() + wrapping_multiply(j, line.indices));
      if (!block.matches(tuples, count)) {
        if (!block.resolve(job, tuples, count)) return false;
        merged.add_line_offsets(now, block.offsets);
      }
      Updates updates{0, 0, block.offsets, from, count};
      if (part.stripes.count > 1) {
        updates = filter.in_stripes(block.offsets, from, count, range_in_line.low - line_offset, part.stripes);
      } else if (block.resolved != Resolved::all || !range_in_line.contains(within)) {
        updates = filter.in_range(block.offsets, from, count,
                                  {range_in_line.low - line_offset, range_in_line.high - line_offset});
      }
      updates.target = lines.table() + line_offset;
      updates.updates = lines.rows() + wrapping_multiply(j, line.rows);
      if (updates.count > 0) on_updates(updates);
    }
  }
  return true;
}

}  // namespace gather::cpu
