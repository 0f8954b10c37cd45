#pragma once

#include <cstdint>

#include "core/plan.hpp"
#include "cpu/rows.hpp"

namespace gather::cpu {

// A loop of a plan with its open extent filled in.
struct Steps {
  int64_t extent;
  int64_t params, index, out;
};

// A plan with pointers and the open extent filled in.
struct Job {
  Job(const core::Plan& plan, const core::Pointers& pointers, int64_t n, CopyRows copy);

  const core::Plan& plan;
  const char* params;
  const char* indices;
  char* out;
  CopyRows copy;
  int64_t tuples;
  int64_t slices;
  Steps line;  // the innermost tuple loop
  int32_t inner_count;
  Steps loops[GTH_MAX_NDIM];  // loops around the line
  Steps inner[GTH_MAX_NDIM];  // loops inside a slice
};

// Steps through the lines of a job. A validating walk leaves the outer loops out: they repeat the same tuples.
class Lines {
 public:
  enum class Walk : uint8_t { copying, validating };

  Lines(const Job& job, Walk walk);

  void seek(int64_t line);
  void next();

  int64_t params() const { return params_; }
  int64_t index() const { return index_; }
  int64_t out() const { return out_; }

 private:
  void move(const Steps& loop, int64_t by);

  const Job& job_;
  int32_t count_ = 0;
  int64_t params_ = 0, index_ = 0, out_ = 0;
  uint8_t loop_[GTH_MAX_NDIM];  // which loops of the job
  int64_t at_[GTH_MAX_NDIM];    // where each stands
};

}  // namespace gather::cpu
