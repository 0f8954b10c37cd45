#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/block.hpp"
#include "cpu/executor.hpp"
#include "cpu/job.hpp"
#include "cpu/pieces.hpp"

// The target of a scatter, cut into parts of which each is written by one thread, so that updates of one row are combined in
// one order, whatever the number of threads.
namespace gather::cpu {

// A target stands in the place of params; that it may be written was checked when the plan was made.
inline char* target_of(const Job& job) { return const_cast<char*>(job.params); }

// Where the first rows of slices lie, in bytes from the target's first element on: [low, high].
struct Range {
  int64_t low, high;

  bool holds(const Range& other) const { return low <= other.low && other.high <= high; }
  bool meets(const Range& other) const { return low <= other.high && other.low <= high; }
};

inline void widen(int64_t extent, int64_t stride, Range* range) {
  if (extent > 1) (stride < 0 ? range->low : range->high) += (extent - 1) * stride;
}

// Where the slices of a line lie that begins at 0.
inline Range range_of_line(const Job& job) {
  Range range{0, 0};
  widen(job.copying.line.extent, job.copying.line.params, &range);
  for (int32_t i = 0; i < job.plan.components; ++i) {
    widen(job.plan.component[i].size, job.plan.component[i].stride, &range);
  }
  return range;
}

// What one thread writes: the slices that begin in the range, of their rows `bytes` bytes from `column` on.
struct Part {
  Range range;
  int64_t column, bytes;
};

// Whether long rows are cut, so that no thread waits for the one that has the rows which all updates go to.
enum class LongRows : uint8_t { cut, whole };

class Parts {
 public:
  Parts(const Job& job, const Executor& executor, LongRows rows)
      : row_(job.plan.row.out), item_(job.plan.item.bytes()) {
    whole_ = range_of_line(job);
    for (int32_t i = 0; i < job.copying.around_count; ++i) {
      widen(job.copying.around[i].extent, job.copying.around[i].params, &whole_);
    }
    const int64_t wanted = copied_bytes(job) < parallel_bytes ? 1 : thread_count(executor);
    cuts_rows_ = rows == LongRows::cut && row_ / least_columns >= wanted;
    const int64_t count = cuts_rows_ ? row_ / item_ : slices_apart();
    size_ = count / wanted + (count % wanted != 0);
    number_ = count / size_ + (count % size_ != 0);
  }

  Pieces pieces() const { return {number_, 1, number_}; }

  Part operator[](int64_t i) const {
    if (cuts_rows_) {
      const int64_t first = i * size_ * item_, bytes = size_ * item_;
      return {whole_, first, std::min(bytes, row_ - first)};
    }
    const int64_t low = whole_.low + i * size_;
    return {{low, whole_.high - low < size_ ? whole_.high : low + size_ - 1}, 0, row_};
  }

 private:
  static constexpr int64_t least_columns = 512;  // bytes

  // The bytes that slices may begin at.
  int64_t slices_apart() const {
    const uint64_t span = static_cast<uint64_t>(whole_.high) - static_cast<uint64_t>(whole_.low);
    return static_cast<int64_t>(std::min<uint64_t>(span, INT64_MAX - 1)) + 1;
  }

  Range whole_;
  int64_t row_, item_;
  bool cuts_rows_;
  int64_t size_, number_;  // of parts
};

// Updates that follow each other: what they are combined with, in bytes from `target` on, and where they lie themselves, from
// `updates` on; these two in bytes from those of the job on.
struct Updates {
  int64_t target, updates;
  const int64_t *offsets, *from;
  int64_t count;
};

// Chosen out of a block, those that go to a range.
class Choice {
 public:
  // The j-th offset selects for the update at steps[j]; no_row is in no range.
  Updates choose(const int64_t* offsets, const int64_t* steps, int64_t count, const Range& range) {
    const uint64_t span = static_cast<uint64_t>(range.high) - static_cast<uint64_t>(range.low);
    int64_t n = 0;
    for (int64_t i = 0; i < count; ++i) {
      offsets_[n] = offsets[i];
      from_[n] = steps[i];
      n += static_cast<uint64_t>(offsets[i]) - static_cast<uint64_t>(range.low) <= span;
    }
    return {0, 0, offsets_, from_, n};
  }

 private:
  int64_t offsets_[block_tuples], from_[block_tuples];
};

// Lines of dense indices that follow each other are one line of tuples, and a block of them is as long as it may be.
class Bundle {
 public:
  explicit Bundle(const Job& job) : line_(job.copying.line) {
    if (job.copying.around_count == 0) return;
    const Steps& next = job.copying.around[job.copying.around_count - 1];
    if (next.index != steps_of(line_.extent, line_.index) || line_.extent > block_tuples / 2) return;
    most_ = std::min(block_tuples / line_.extent, next.extent);
    next_params_ = next.params;
    next_out_ = next.out;
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
        steps[at] = steps_of(line, next_out_) + steps_of(j, line_.out);
      }
    }
  }
  // Offsets that were found as those of one line.
  void part_lines(int64_t lines, int64_t* offsets) const {
    const int64_t between = next_params_ - steps_of(line_.extent, line_.params);
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

// Calls on_updates(Updates) for those that go to a range of the target, those of one slice in the order of their positions.
// False: an index is bad that was good when it was judged.
template <class OnUpdates>
bool for_updates_of(const Job& job, const Range& range, OnUpdates&& on_updates) {
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
    const Range on{range.low - lines.params(), range.high - lines.params()};
    const Range within = bundle.reach(reach, now);
    if (!on.meets(within)) continue;
    for (int64_t j = 0; j < line.extent * now; j += block_tuples) {
      const int64_t count = std::min(block_tuples, line.extent * now - j), along = steps_of(j, line.params);
      const char* const tuples = moved(job.indices, lines.index() + steps_of(j, line.index));
      if (!block.holds(tuples, count)) {
        if (!block.resolve(job, tuples, count)) return false;
        bundle.part_lines(now, block.offsets);
      }
      Updates updates{0, 0, block.offsets, steps, count};
      if (block.resolved != Resolved::all || !on.holds(within)) {
        updates = choice.choose(block.offsets, steps, count, {on.low - along, on.high - along});
      }
      updates.target = lines.params() + along;
      updates.updates = lines.out() + steps_of(j, line.out);
      if (updates.count > 0) on_updates(updates);
    }
  }
  return true;
}

}  // namespace gather::cpu
