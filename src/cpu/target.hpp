#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/block.hpp"
#include "cpu/job.hpp"
#include "cpu/parts.hpp"

// The walk of a scatter along the updates of a part of its target.
namespace gather::cpu {

// A target stands in the place of params; that it may be written was checked when the plan was made.
inline char* target_of(const Job& job) { return const_cast<char*>(job.table); }

// Updates that follow each other: what they are combined with, in bytes from `target` on, and where they lie themselves, from
// `updates` on; these two in bytes from those of the job on.
struct Updates {
  int64_t target, updates;
  const int64_t *offsets, *from;
  int64_t count;
};

// Chosen out of a block, those that go to a part of the target.
class Choice {
 public:
  // The j-th offset selects for the update at steps[j]; no_row is in no range.
  Updates in_range(const int64_t* offsets, const int64_t* steps, int64_t count, const Range& range) {
    const uint64_t span = static_cast<uint64_t>(range.high) - static_cast<uint64_t>(range.low);
    return choose(offsets, steps, count, [&](int64_t offset) {
      return static_cast<uint64_t>(offset) - static_cast<uint64_t>(range.low) <= span;
    });
  }
  // `low`: where the first stripe begins.
  Updates in_stripes(const int64_t* offsets, const int64_t* steps, int64_t count, int64_t low, const Stripes& stripes) {
    return choose(offsets, steps, count,
                  [&](int64_t offset) { return offset != no_row && stripes.have(offset - low); });
  }

 private:
  template <class Has>
  Updates choose(const int64_t* offsets, const int64_t* steps, int64_t count, Has&& has) {
    int64_t n = 0;
    for (int64_t i = 0; i < count; ++i) {
      offsets_[n] = offsets[i];
      from_[n] = steps[i];
      n += has(offsets[i]);
    }
    return {0, 0, offsets_, from_, n};
  }

  int64_t offsets_[block_tuples], from_[block_tuples];
};

// Lines of dense indices that follow each other are one line of tuples, and a block of them is as long as it may be.
class Bundle {
 public:
  explicit Bundle(const Job& job) : line_(job.copying.line) {
    if (job.copying.around_count == 0) return;
    const Steps& next = job.copying.around[job.copying.around_count - 1];
    if (next.indices != steps_of(line_.extent, line_.indices) || line_.extent > block_tuples / 2) return;
    most_ = std::min(block_tuples / line_.extent, next.extent);
    next_params_ = next.table;
    next_out_ = next.rows;
  }

  int64_t most() const { return most_; }

  // Where the slices of so many lines lie, of which one reaches so far.
  Range reach(Range of_line, int64_t lines) const {
    widen(lines, next_params_, &of_line);
    return of_line;
  }
  // Where the updates of a block lie, from those of its first line on.
  void find_updates(int64_t* steps) const {
    int64_t at = 0;
    for (int64_t line = 0; line < most_; ++line) {
      for (int64_t j = 0; j < line_.extent && at < block_tuples; ++j, ++at) {
        steps[at] = steps_of(line, next_out_) + steps_of(j, line_.rows);
      }
    }
  }
  // Offsets that were found as those of one line.
  void part_lines(int64_t lines, int64_t* offsets) const {
    const int64_t between = next_params_ - steps_of(line_.extent, line_.table);
    for (int64_t line = 1; line < lines; ++line) {
      for (int64_t j = line * line_.extent; j < (line + 1) * line_.extent; ++j) {
        if (offsets[j] != no_row) offsets[j] += steps_of(line, between);
      }
    }
  }

 private:
  const Steps& line_;
  int64_t most_ = 1, next_params_ = 0, next_out_ = 0;
};

// Calls on_updates(Updates) for those that go to a part of the target, those of one slice in the order of their positions.
// False: an index is bad that was good when it was judged.
template <class OnUpdates>
bool for_updates_of(const Part& part, OnUpdates&& on_updates) {
  const Job& job = part.job;
  const Range& range = part.range;
  const Steps& line = job.copying.line;
  const Range reach = range_of_line(job);
  const Bundle bundle(job);
  int64_t steps[block_tuples];
  bundle.find_updates(steps);
  ResolvedBlock block;
  Choice choice;
  Lines lines(job.copying);
  int64_t left = job.slices / line.extent;
  for (int64_t now; left > 0; left -= now, lines.skip(now)) {
    now = std::min({left, bundle.most(), lines.run()});
    const Range on{range.low - lines.table(), range.high - lines.table()};
    const Range within = bundle.reach(reach, now);
    if (!on.meets(within)) continue;
    for (int64_t j = 0; j < line.extent * now; j += block_tuples) {
      const int64_t count = std::min(block_tuples, line.extent * now - j), along = steps_of(j, line.table);
      const char* const tuples = moved(job.indices, lines.indices() + steps_of(j, line.indices));
      if (!block.holds(tuples, count)) {
        if (!block.resolve(job, tuples, count)) return false;
        bundle.part_lines(now, block.offsets);
      }
      Updates updates{0, 0, block.offsets, steps, count};
      if (part.stripes.of > 1) {
        updates = choice.in_stripes(block.offsets, steps, count, on.low - along, part.stripes);
      } else if (block.resolved != Resolved::all || !on.holds(within)) {
        updates = choice.in_range(block.offsets, steps, count, {on.low - along, on.high - along});
      }
      updates.target = lines.table() + along;
      updates.updates = lines.rows() + steps_of(j, line.rows);
      if (updates.count > 0) on_updates(updates);
    }
  }
  return true;
}

}  // namespace gather::cpu
