#pragma once

#include <cstdint>

#include "core/plan.hpp"

namespace gather::cpu {

// Combines n rows of `row` bytes, one after the other: the one at updates + from[i] into the one at target + offsets[i].
// No alignment is asked for.
using ReduceRows = void (*)(char* target, const int64_t* offsets, const char* updates, const int64_t* from, int64_t n,
                            int64_t row);

// What a scatter does with its rows.
ReduceRows choose_reduce(const core::Plan& plan);

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
