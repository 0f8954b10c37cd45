#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/noinline.hpp"
#include "cpu/indices.hpp"
#include "cpu/job.hpp"

namespace gather::cpu {

// The tuples of a job that are processed together: n tuples of each of some successive lines.
struct TupleBlock {
  int64_t lines, n;
  bool repeats;       // All lines have the same tuples.
  int64_t begin = 0;  // the number of the first tuple in its line

  int64_t tuples() const { return lines * n; }
  int64_t distinct() const { return repeats ? n : lines * n; }
};

// Returns how many of `total` items to process next, at most `most`. The last two parts have about the same size, so
// that none has too few items for a kernel.
inline int64_t part_of(int64_t total, int64_t most) {
  if (total <= most) return total;
  return total >= 2 * most ? most : (total + 1) / 2;
}

// Returns the block that begins at the j-th tuple of the current line and has at most `most` tuples. It is a part of a
// line of at most `capacity` tuples, or up to `max_lines` whole lines. With `repeats` it may be any number of lines
// with the same tuples.
inline TupleBlock block_at(const Job& job, const LineIterator& lines, int64_t j, int64_t most, int64_t capacity,
                           int64_t max_lines, bool repeats) {
  const int64_t extent = job.copying.line.extent, n = part_of(std::min(extent - j, most), capacity);
  if (repeats) max_lines = INT64_MAX;
  if (n < extent || max_lines == 1) return {1, n, false, j};
  return {part_of(std::min(lines.run(), most / n), max_lines), n, repeats, j};
}

// Resolves blocks of tuples to offsets. The offsets are reused while blocks have the same tuples.
class BlockResolver {
 public:
  // The offsets of several lines include the distances of the lines in the table, unless `has_own_offsets`.
  explicit BlockResolver(const Job& job, bool has_own_offsets = false)
      : job_(job), has_own_offsets_(has_own_offsets), line_(job.copying.line), next_indices_(job.next_loop().indices) {
    const Runs runs = job.table_runs();
    const int64_t next_table = job.next_loop().table;
    has_steps_ = runs.step != 0 || runs.next != 0 || (!has_own_offsets && job.merged_lines > 1 && next_table != 0);
    if (has_steps_) find_steps(runs, next_table, steps_);
  }

  // Resolves the block whose first tuple is at `tuples`, or whose line begins there if its runs repeat. It has at most
  // max_resolved distinct tuples, and at most block_tuples if the offsets include distances of lines. Returns false if
  // an index is invalid. bad() then describes the first one.
  bool resolve(const char* tuples, const TupleBlock& block) {
    if (job_.runs_repeat) return resolve_runs(tuples, block);
    const int64_t count = block.distinct();
    if (tuples == tuples_ && count == count_ && block.begin == begin_) return true;
    tuples_ = nullptr;
    resolved_ = Resolved::all;
    if (block.lines > 1 && !block.repeats && !job_.lines_are_contiguous) {
      if (!resolve_packed(tuples, block)) return false;
    } else {
      for (int64_t first = 0; first < count; first += block_tuples) {
        const char* const at = moved(tuples, wrapping_multiply(first, line_.indices));
        if (!resolve_at_once(at, line_.indices, block, first, std::min(block_tuples, count - first))) return false;
      }
    }
    tuples_ = tuples;
    count_ = count;
    begin_ = block.begin;
    return true;
  }

  // Resolves n <= block_tuples tuples of each of some lines, whose indices begin `next_line` bytes apart. There are no
  // steps. Returns false if an index is invalid.
  bool resolve_lines(const char* tuples, int64_t next_line, int64_t lines, int64_t n) {
    tuples_ = nullptr;
    resolved_ = Resolved::all;
    for (int64_t l = 0; l < lines; ++l) {
      const char* const at = moved(tuples, wrapping_multiply(l, next_line));
      if (!resolve_at_once(at, line_.indices, {1, n, false}, l * n, n)) return false;
    }
    return true;
  }

  const int64_t* offsets() const { return offsets_ + first_; }
  bool has_own_offsets() const { return has_own_offsets_; }
  bool has_steps() const { return has_steps_; }
  // The part of the offsets of a block that does not depend on index values, or NULL if it is 0.
  const int64_t* steps(const TupleBlock& block) const {
    return has_steps_ ? steps_ + (job_.is_joined ? block.begin : 0) : nullptr;
  }
  Resolved resolved() const { return resolved_; }
  // The first invalid tuple. Its number counts from the first tuple of the block.
  const BadTuple& bad() const { return bad_; }

  // Computes the distance of each tuple of a block from the first one. Successive lines begin `next_line` bytes apart.
  void find_steps(const Runs& runs, int64_t next_line, int64_t* steps) const {
    const int64_t count = std::min(block_tuples, job_.slices);
    for (int64_t at = 0, line = 0; at < count; ++line) {
      int64_t begin = wrapping_multiply(line, next_line);
      for (const int64_t line_end = std::min(count, at + line_.extent); at < line_end; begin += runs.next) {
        const int64_t end = std::min(line_end, at + runs.extent);
        for (int64_t j = 0; at < end; ++at, ++j) steps[at] = begin + wrapping_multiply(j, runs.step);
      }
    }
  }

 private:
  // Resolves all tuples of a line whose runs have the same. Its first tuple is at `tuples`.
  bool resolve_runs(const char* tuples, const TupleBlock& block) {
    first_ = block.begin;
    if (tuples == tuples_) return true;
    tuples_ = nullptr;
    const int64_t run = job_.table_runs().extent;
    resolved_ = job_.kernels.resolve(job_.plan, tuples, line_.indices, run, offsets_, &bad_);
    if (resolved_ == Resolved::bad) return false;
    for (int64_t i = run; i < line_.extent; ++i) offsets_[i] = offsets_[i - run];
    if (has_steps_) add_steps(steps_, resolved_, 0, line_.extent, offsets_);
    tuples_ = tuples;
    return true;
  }

  // Resolves tuples of one component in lines that are not contiguous. Inlined, its copies would use stack in every
  // call.
  GATHER_NOINLINE bool resolve_packed(const char* tuples, const TupleBlock& block) {
    int64_t packed[block_tuples];
    const int64_t most = block_tuples / block.n;
    for (int64_t l = 0; l < block.lines; l += most) {
      const int64_t lines = std::min(most, block.lines - l);
      const char* const at = moved(tuples, wrapping_multiply(l, next_indices_));
      pack_lines(job_.plan.index, {at, lines, next_indices_, block.n, line_.indices}, packed);
      const int64_t stride = core::index_bytes(job_.plan.index);
      const char* const first = reinterpret_cast<const char*>(packed);
      if (!resolve_at_once(first, stride, block, l * block.n, lines * block.n)) return false;
    }
    return true;
  }

  // Resolves n <= block_tuples tuples, of which the first one is number `first` of the block.
  bool resolve_at_once(const char* tuples, int64_t stride, const TupleBlock& block, int64_t first, int64_t n) {
    int64_t* const offsets = offsets_ + first;
    const Resolved resolved = job_.kernels.resolve(job_.plan, tuples, stride, n, offsets, &bad_);
    if (resolved == Resolved::bad) {
      bad_.tuple += first;
      return false;
    }
    if (has_steps_) add_steps(steps(block), resolved, wrapping_multiply(first, line_.table), n, offsets);
    if (resolved == Resolved::some) resolved_ = Resolved::some;
    return true;
  }

  static void add_steps(const int64_t* steps, Resolved resolved, int64_t base, int64_t n, int64_t* offsets) {
    if (resolved == Resolved::all) {
      for (int64_t i = 0; i < n; ++i) offsets[i] += steps[i] + base;
    } else {
      for (int64_t i = 0; i < n; ++i) offsets[i] += offsets[i] == no_row ? 0 : steps[i] + base;
    }
  }

  const Job& job_;
  const bool has_own_offsets_;
  const SizedLoop& line_;
  const int64_t next_indices_;
  bool has_steps_;
  Resolved resolved_ = Resolved::all;
  BadTuple bad_{};
  const char* tuples_ = nullptr;
  int64_t count_ = 0, begin_ = 0;
  int64_t first_ = 0;  // the number of the first tuple of the block among the offsets
  int64_t steps_[block_tuples];
  int64_t offsets_[max_resolved];
};

}  // namespace gather::cpu
