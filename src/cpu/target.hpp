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
  Updates in_range(const int64_t* offsets, const int64_t* from, int64_t count, const ByteRange& range) {
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

// Calls on_updates(Updates) for the updates of a part. Updates of one slice keep the order of their positions. Returns
// false if an index has become invalid after its validation.
template <class OnUpdates>
bool for_updates_of(const JobPart& part, OnUpdates&& on_updates) {
  const Job& job = part.job;
  const ByteRange& range = part.range;
  const SizedLoop& line = job.copying.line;
  const SizedLoop next = job.next_loop();
  const ByteRange line_range = range_of_line(job);
  BlockResolver resolver(job);
  int64_t from[block_tuples];
  resolver.find_steps({line.extent, line.rows, 1, 0}, next.rows, from);
  UpdateFilter filter;
  LineIterator lines(job.copying);
  int64_t left = job.slices;
  for (int64_t j = 0; left > 0;) {
    const TupleBlock block = block_at(job, lines, j, left, block_tuples, job.merged_lines, false);
    const ByteRange in_line{range.low - lines.table(), range.high - lines.table()};
    ByteRange within = line_range;
    widen(block.lines, next.table, &within);
    if (in_line.overlaps(within)) {
      const char* const tuples = moved(job.indices, lines.indices() + wrapping_multiply(j, line.indices));
      if (!resolver.resolve(tuples, block)) return false;
      const int64_t line_offset = wrapping_multiply(j, line.table);
      const ByteRange wanted{in_line.low - line_offset, in_line.high - line_offset};
      Updates updates{0, 0, resolver.offsets(), from, block.tuples()};
      if (part.stripes.count > 1) {
        updates = filter.in_stripes(resolver.offsets(), from, block.tuples(), wanted.low, part.stripes);
      } else if (resolver.resolved() != Resolved::all || !in_line.contains(within)) {
        updates = filter.in_range(resolver.offsets(), from, block.tuples(), wanted);
      }
      updates.target = lines.table() + line_offset;
      updates.updates = lines.rows() + wrapping_multiply(j, line.rows);
      if (updates.count > 0) on_updates(updates);
    }
    left -= block.tuples();
    j += block.n;
    if (j < line.extent) continue;
    lines.skip(block.lines);
    j = 0;
  }
  return true;
}

}  // namespace gather::cpu
