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
  // The j-th offset selects for the update at step * j; no_row is in no range.
  Updates choose(const int64_t* offsets, int64_t count, int64_t step, const Range& range) {
    const uint64_t span = static_cast<uint64_t>(range.high) - static_cast<uint64_t>(range.low);
    int64_t n = 0;
    for (int64_t i = 0; i < count; ++i) {
      offsets_[n] = offsets[i];
      from_[n] = steps_of(i, step);
      n += static_cast<uint64_t>(offsets[i]) - static_cast<uint64_t>(range.low) <= span;
    }
    return {0, 0, offsets_, from_, n};
  }

 private:
  int64_t offsets_[block_tuples], from_[block_tuples];
};

// Calls on_updates(Updates) for those that go to a range of the target, those of one slice in the order of their positions.
// False: an index is bad that was good when it was judged.
template <class OnUpdates>
bool for_updates_of(const Job& job, const Range& range, OnUpdates&& on_updates) {
  const Steps& line = job.copying.line;
  const Range reach = range_of_line(job);
  int64_t steps[block_tuples];
  for (int64_t i = 0; i < block_tuples; ++i) steps[i] = steps_of(i, line.out);
  ResolvedBlock block;
  Choice choice;
  Lines lines(job.copying);
  for (int64_t left = job.slices / line.extent; left > 0; --left, lines.next()) {
    const Range on{range.low - lines.params(), range.high - lines.params()};
    if (!on.meets(reach)) continue;
    for (int64_t j = 0; j < line.extent; j += block_tuples) {
      const int64_t count = std::min(block_tuples, line.extent - j), along = steps_of(j, line.params);
      if (!block.update(job, moved(job.indices, lines.index() + steps_of(j, line.index)), count)) return false;
      Updates updates{0, 0, block.offsets, steps, count};
      if (block.resolved != Resolved::all || !on.holds(reach)) {
        updates = choice.choose(block.offsets, count, line.out, {on.low - along, on.high - along});
      }
      updates.target = lines.params() + along;
      updates.updates = lines.out() + steps_of(j, line.out);
      if (updates.count > 0) on_updates(updates);
    }
  }
  return true;
}

}  // namespace gather::cpu
