#pragma once

#include <cstdint>

#include "core/plan.hpp"

namespace gather::cpu {

// Tuples are resolved to offsets block by block: enough to amortise a call, little enough for L1.
constexpr int64_t block_tuples = 256;

// So few tuples are resolved one by one.
constexpr int64_t few_tuples = 8;

// Where a tuple that selects nothing (bounds = fill, skip) points.
constexpr int64_t no_row = INT64_MIN;

// The first bad tuple of a block.
struct BadTuple {
  int64_t tuple;  // in the block
  int32_t component;
  int64_t value;  // the index as it was read
};

enum class Resolved : uint8_t {
  all,   // every offset selects a row
  some,  // bounds = fill or skip: some are no_row
  bad,   // bounds = error, clamp or modulo: *bad is set, the offsets say nothing
};

// Whether n tuples under bounds = error, fill or skip are all good, found out quickly: false may also mean that it
// cannot be said so quickly.
bool are_inside(const core::Plan& plan, const char* tuples, int64_t stride, int64_t n);

// Resolves n <= block_tuples tuples, of which the first lies at `tuples` and each next one `stride` bytes on, to byte
// offsets into params. Every index is loaded exactly once: another thread that writes to indices meanwhile can change
// which row is selected, never lead outside params.
Resolved resolve(const core::Plan& plan, const char* tuples, int64_t stride, int64_t n, int64_t* offsets,
                 BadTuple* bad);

}  // namespace gather::cpu
