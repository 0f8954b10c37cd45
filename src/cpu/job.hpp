#pragma once

#include <cstdint>

#include "core/plan/operands.hpp"
#include "core/plan/plan.hpp"
#include "cpu/kernels.hpp"

namespace gather::cpu {

// A pointer moved by a number of bytes. In integers: what is not read may be NULL, and strides of dims that are not
// stepped along may be anything.
inline const char* moved(const char* from, int64_t bytes) {
  return reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(from) + static_cast<uintptr_t>(bytes));
}
inline char* moved(char* from, int64_t bytes) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(from) + static_cast<uintptr_t>(bytes));
}

// Steps times a stride; as with pointers, what leaves int64 is never used.
inline int64_t steps_of(int64_t count, int64_t stride) {
  return static_cast<int64_t>(static_cast<uint64_t>(count) * static_cast<uint64_t>(stride));
}

// A loop of a plan with its open extent filled in.
struct Steps {
  int64_t extent;
  int64_t table, indices, rows, position;
};

// Loops from tuple to tuple: the line is walked innermost.
struct Nest {
  static constexpr int32_t the_line = -1;

  Steps line;
  int32_t around_count;
  Steps around[GTH_MAX_NDIM];

  const Steps& loop(int32_t i) const { return i == the_line ? line : around[i]; }
  Steps& loop(int32_t i) { return i == the_line ? line : around[i]; }
};

// A plan with pointers and the open extent filled in.
struct Job {
  Job(const core::Plan& plan, const core::Pointers& pointers, int64_t n, const Kernels& kernels);

  // What this one copies while a loop of `copying` steps from first to last, after all was judged.
  Job cut(int32_t loop, int64_t first, int64_t last) const;

  const core::Plan& plan;
  const Kernels& kernels;
  const char* table;
  const char* indices;
  char* rows;
  int64_t slices;
  int64_t judged;  // tuples that differ in the indices they read
  bool in_order;   // walking along `judging`, positions only grow
  Nest copying;    // as the output is written
  Nest judging;    // as indices lie: loops that repeat indices are left out, and those that continue each other are one
  int32_t inner_count;
  Steps inner[GTH_MAX_NDIM];  // loops inside a slice

 private:
  void find_judging();
};

// What copying, or writing, is worth in bytes; no more than enough to be worth all threads.
int64_t copied_bytes(const Job& job);

// Calls body(table, rows) for each row of a slice, with the bytes from the slice's first row on. Of most slices there is one.
template <class Body>
void for_each_row(const Job& job, Body&& body) {
  int64_t table = 0, rows = 0;
  int64_t at[GTH_MAX_NDIM];
  for (int32_t i = 0; i < job.inner_count; ++i) at[i] = 0;
  for (;;) {
    body(table, rows);
    int32_t i = job.inner_count;
    for (;;) {
      if (i-- == 0) return;
      const Steps& loop = job.inner[i];
      const bool carries = ++at[i] == loop.extent;
      const int64_t by = carries ? 1 - loop.extent : 1;
      table += loop.table * by;
      rows += loop.rows * by;
      if (!carries) break;
      at[i] = 0;
    }
  }
}

// Steps through the lines of a nest.
class Lines {
 public:
  explicit Lines(const Nest& nest);

  void seek(int64_t line);
  void next() { skip(1); }
  void skip(int64_t lines);

  // How many lines there are, this one included, that lie equal steps apart; and these steps.
  int64_t run() const { return count_ == 0 ? 1 : innermost().extent - at_[count_ - 1]; }
  const Steps& innermost() const { return nest_.around[count_ - 1]; }

  int64_t table() const { return table_; }
  int64_t indices() const { return indices_; }
  int64_t rows() const { return rows_; }
  int64_t position() const { return position_; }

 private:
  void move(const Steps& loop, int64_t by);

  const Nest& nest_;
  const int32_t count_;
  int64_t table_ = 0, indices_ = 0, rows_ = 0, position_ = 0;
  int64_t at_[GTH_MAX_NDIM];  // where each loop stands
};

}  // namespace gather::cpu
