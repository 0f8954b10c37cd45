#pragma once

#include <cstdint>

#include "core/plan/plan.hpp"
#include "cpu/tiers/tier.hpp"

namespace gather::cpu {

// Returns the kernel that reduces rows of a scatter without a tier.
WriteRows choose_reduce(const core::Plan& plan);

// The number of elements that are converted to float32 at once.
constexpr int64_t block_floats = 512;

// Kernels that accumulate float16 or bfloat16 in float32.
struct Accumulate {
  void (*load)(const char* row, int64_t n, float* values);
  void (*combine)(const char* row, int64_t n, float* values);
  void (*store)(const float* values, int64_t n, char* row);  // rounded to nearest, ties to even
};

Accumulate choose_accumulate(const core::Plan& plan);

}  // namespace gather::cpu
