#pragma once

#include <cstdint>

#include "core/operands.hpp"
#include "core/plan.hpp"
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
  int64_t params, index, out, position;
};

// A plan with pointers and the open extent filled in.
struct Job {
  Job(const core::Plan& plan, const core::Pointers& pointers, int64_t n, const Kernels& kernels);

  const core::Plan& plan;
  const Kernels& kernels;
  const char* params;
  const char* indices;
  char* out;
  int64_t slices;
  int64_t judged;  // tuples that differ in the indices they read: loops that repeat indices count once
  bool in_order;   // walking along, positions only grow
  Steps line;
  int32_t around_count, inner_count;
  Steps around[GTH_MAX_NDIM];  // loops around the line
  Steps inner[GTH_MAX_NDIM];   // loops inside a slice

  // Tuples of a line as validation sees it.
  int64_t judged_line() const { return line.index == 0 ? 1 : line.extent; }
};

// Steps through the lines of a job. A validating walk leaves out the loops that repeat the same indices.
class Lines {
 public:
  enum class Walk : uint8_t { copying, validating };

  Lines(const Job& job, Walk walk);

  void seek(int64_t line);
  void next();

  int64_t params() const { return params_; }
  int64_t index() const { return index_; }
  int64_t out() const { return out_; }
  int64_t position() const { return position_; }

 private:
  void move(const Steps& loop, int64_t by);

  const Job& job_;
  int32_t count_ = 0;
  int64_t params_ = 0, index_ = 0, out_ = 0, position_ = 0;
  uint8_t loop_[GTH_MAX_NDIM];  // which loops of the job
  int64_t at_[GTH_MAX_NDIM];    // where each stands
};

}  // namespace gather::cpu
