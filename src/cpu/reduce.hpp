#pragma once

#include <cstdint>

#include "core/plan/plan.hpp"
#include "cpu/tiers/tier.hpp"

namespace gather::cpu {

// What a scatter does with its rows that are not only written, without the help of a tier.
WriteRows choose_reduce(const core::Plan& plan);

// As many elements as are worth having as float32 at once.
constexpr int64_t block_floats = 512;

// float16 and bfloat16, accumulated in float32.
struct Accumulate {
  void (*load)(const char* row, int64_t n, float* values);
  void (*combine)(const char* row, int64_t n, float* values);
  void (*store)(const float* values, int64_t n, char* row);  // rounded to nearest, ties to even
};

Accumulate choose_accumulate(const core::Plan& plan);

}  // namespace gather::cpu
