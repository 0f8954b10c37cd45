#pragma once

#include <cstdint>

#include "core/base/moved.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/pointers.hpp"
#include "cpu/kernels.hpp"

namespace gather::cpu {

using core::moved;

// Returns count * stride, wrapped around at 64 bits. A product that overflows is never used.
inline int64_t wrapping_multiply(int64_t count, int64_t stride) {
  return static_cast<int64_t>(static_cast<uint64_t>(count) * static_cast<uint64_t>(stride));
}

// A loop of a plan for one open extent.
struct SizedLoop {
  int64_t extent;
  int64_t table, indices, rows, position;
};

// Returns a loop with an open extent of n.
inline SizedLoop sized(const core::Loop& loop, int64_t n) {
  return {loop.extent.at(n), loop.table.at(n), loop.indices.at(n), loop.rows.at(n), loop.position.at(n)};
}

// The distances of the tuples of a line in an operand. The line consists of `count` runs of `extent` tuples. The tuples
// of a run are `step` bytes apart, and successive runs begin `next` bytes apart.
struct Runs {
  int64_t extent, step;
  int64_t count, next;
};

// The tuple loops of a plan. `line` is the innermost loop. One execution of it is called a line.
struct Nest {
  static constexpr int32_t the_line = -1;

  SizedLoop line;
  int32_t outer_count;
  SizedLoop outer[GTH_MAX_NDIM];

  const SizedLoop& loop(int32_t i) const { return i == the_line ? line : outer[i]; }
  SizedLoop& loop(int32_t i) { return i == the_line ? line : outer[i]; }
};

class FileRows;
struct Job;

// Moves the rows of a block of a table in files.
void move_from_files(const Job& job, const RowBlock& block);

// The largest number of tuples that are resolved before their rows are moved.
constexpr int64_t max_resolved = turns * block_tuples;

// A plan together with its pointers, for one open extent.
struct Job {
  Job(const core::Plan& plan, const core::Pointers& pointers, int64_t n, const Kernels& kernels,
      FileRows* files = nullptr);

  // Returns the part of this job in which a loop of `copying` takes the steps [first, last). Precondition: all tuples
  // have been validated.
  Job cut(int32_t loop, int64_t first, int64_t last) const;

  // Replaces tables in files by memory.
  void leave_files(const core::Pointers& pointers);

  // Moves the rows of a block.
  void move(const RowBlock& block) const {
    if (__builtin_expect(files != nullptr, 0)) return move_from_files(*this, block);
    kernels.move(block);
  }

  // Returns the number of whole lines that are resolved together. They have up to `tuples` tuples, and are contiguous
  // in indices, or so short that copying their indices to contiguous memory pays. Returns 1 for other lines.
  int64_t lines_in(int64_t tuples) const;

  // Returns the distances of the tuples of a line in the table.
  Runs table_runs() const { return is_joined ? joined_ : Runs{copying.line.extent, copying.line.table, 1, 0}; }

  // Returns the loop around the line.
  SizedLoop next_loop() const {
    return copying.outer_count > 0 ? copying.outer[copying.outer_count - 1] : SizedLoop{1, 0, 0, 0, 0};
  }

  // Returns the packed rows of the table, or NULL.
  const core::PackedRows* packed() const { return plan.packed.is_packed() ? &packed_ : nullptr; }

  const core::Plan& plan;
  const Kernels& kernels;
  FileRows* files;    // NULL if all operands are memory
  int64_t n;          // the open extent, or GTH_OPEN
  const char* table;  // of packed rows, the number 0; of rows in files, the address 0
  const char* indices;
  char* rows;
  int64_t slices;
  int64_t distinct_tuples;    // the number of tuples in indices
  bool repeats;               // successive lines of `copying` have the same tuples, so these are resolved once
  bool lines_are_contiguous;  // successive lines of `copying` are contiguous in indices
  int64_t merged_lines;       // the number of short lines of `copying` that are resolved together, at least 1
  bool is_joined = false;     // The line of `copying` consists of two loops, and line.table is 0.
  bool runs_repeat = false;   // All runs of a joined line, and all lines, have the same tuples.
  bool in_order;              // positions increase in the order of `validating`
  Nest copying;               // in the order of the rows
  Nest validating;            // in the order of indices, without loops that repeat tuples; contiguous loops are merged
  int32_t inner_count;        // the number of loops inside a slice

  const SizedLoop& inner(int32_t i) const { return copying.outer[first_inner_ + i]; }
  const SizedLoop& last_inner() const { return inner(inner_count - 1); }

 private:
  void set_packed(const core::Pointers& pointers);
  void join_short_loops();
  void find_merged_lines();
  void build_validating_nest();
  void exchange_short_loop();

  // The loops inside a slice are behind those of `copying`, so that a job uses less stack. A plan has at most
  // GTH_MAX_NDIM + 1 loops, of which one is the line.
  int32_t first_inner_;
  Runs joined_{0, 0, 0, 0};  // the distances in the table if is_joined
  core::PackedRows packed_;  // set if the table is packed
};

// Returns the offset of a batch of the table.
int64_t batch_offset(const core::Plan& plan, int64_t batch);

// Returns the number of rows of a slice that are contiguous in the output: those of the innermost loop, or all.
int64_t contiguous_rows(const Job& job);

// Estimates the cost of the call in bytes. Small rows count as more than their bytes.
int64_t copied_bytes(const Job& job);

// Calls body(table, rows) for each step of `count` nested loops, with its byte offsets. loop_of(i) returns the i-th loop,
// from the outermost one on.
template <class LoopOf, class Body>
void for_each_step(int32_t count, LoopOf&& loop_of, Body&& body) {
  int64_t table = 0, rows = 0;
  int64_t at[GTH_MAX_NDIM];
  for (int32_t i = 0; i < count; ++i) at[i] = 0;
  for (;;) {
    body(table, rows);
    int32_t i = count;
    for (;;) {
      if (i-- == 0) return;
      const SizedLoop& loop = loop_of(i);
      const bool carries = ++at[i] == loop.extent;
      const int64_t by = carries ? 1 - loop.extent : 1;
      table += loop.table * by;
      rows += loop.rows * by;
      if (!carries) break;
      at[i] = 0;
    }
  }
}

// Calls body(table, rows) for each step of the first `count` loops inside a slice, with its byte offsets. With all of
// them, it is called for each row. Most slices have one row.
template <class Body>
void for_each_row(const Job& job, int32_t count, Body&& body) {
  for_each_step(count, [&](int32_t i) -> const SizedLoop& { return job.inner(i); }, body);
}

// Calls body(table, rows) for each row of a slice.
template <class Body>
void for_each_row(const Job& job, Body&& body) {
  for_each_row(job, job.inner_count, body);
}

// Iterates over the lines of a nest.
class LineIterator {
 public:
  explicit LineIterator(const Nest& nest);

  void seek(int64_t line);
  void next() { skip(1); }
  void skip(int64_t lines);

  // run() is the number of lines from this one on that have equal distances. innermost() is the loop over these lines.
  int64_t run() const { return count_ == 0 ? 1 : innermost().extent - at_[count_ - 1]; }
  const SizedLoop& innermost() const { return nest_.outer[count_ - 1]; }

  int64_t table() const { return table_; }
  int64_t indices() const { return indices_; }
  int64_t rows() const { return rows_; }
  int64_t position() const { return position_; }

 private:
  void move(const SizedLoop& loop, int64_t by);

  const Nest& nest_;
  const int32_t count_;
  int64_t table_ = 0, indices_ = 0, rows_ = 0, position_ = 0;
  int64_t at_[GTH_MAX_NDIM];  // the counter of each loop
};

}  // namespace gather::cpu
