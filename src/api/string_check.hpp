#pragma once

#include <cinttypes>
#include <cstdint>

#include "core/base/error.hpp"

// Reads and validates string offsets of 32 or 64 bits. They may be unaligned, and another thread may write them.
namespace gather::api {

// The offsets of an empty string tensor.
constexpr int64_t no_strings[1] = {0};

// Loads an offset exactly once, so that the validated value is the used value.
template <class Offset>
int64_t load_offset(const Offset* offset) {
  typedef const volatile Offset Unaligned __attribute__((aligned(1)));
  return *reinterpret_cast<Unaligned*>(offset);
}

// Reports an invalid offset of string `position`. `value` is below 0, below the offset before it, or above `limit`.
inline int32_t fail_offset(int64_t position, int64_t value, int64_t limit, const core::Error& error) {
  return error.fail({GTH_E_ARROW, GTH_OPERAND_TENSOR, -1, position, value, limit},
                    "tensor: offset %" PRId64 " of string %" PRId64 " is %s %" PRId64, value, position,
                    value < limit ? "below" : "beyond", limit);
}

// Checks that the count + 1 offsets are non-decreasing and in [0, extent]. `copy` receives them unless it is nullptr.
// *last receives the last one.
template <class Offset>
int32_t check_offsets(const Offset* offsets, int64_t count, int64_t extent, int64_t* copy, int64_t* last,
                      const core::Error& error) {
  int64_t begin = load_offset(offsets);
  if (begin < 0) return fail_offset(0, begin, 0, error);
  if (begin > extent) return fail_offset(0, begin, extent, error);
  if (copy) copy[0] = begin;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t end = load_offset(offsets + i + 1);
    if (end < begin) return fail_offset(i, end, begin, error);
    if (end > extent) return fail_offset(i, end, extent, error);
    if (copy) copy[i + 1] = end;
    begin = end;
  }
  *last = begin;
  return GTH_OK;
}

}  // namespace gather::api
