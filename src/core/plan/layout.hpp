#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/scaled.hpp"

namespace gather::core {

// Bytes [low, high) from a data pointer on.
struct Span {
  int64_t low, high;
};

// Whether two pieces of memory share a byte.
inline bool overlap(const void* a, const Span& a_span, const void* b, const Span& b_span) {
  const uintptr_t a_at = reinterpret_cast<uintptr_t>(a), b_at = reinterpret_cast<uintptr_t>(b);
  const uintptr_t a_low = a_at + static_cast<uintptr_t>(a_span.low),
                  a_high = a_at + static_cast<uintptr_t>(a_span.high);
  const uintptr_t b_low = b_at + static_cast<uintptr_t>(b_span.low),
                  b_high = b_at + static_cast<uintptr_t>(b_span.high);
  return a_low < b_high && b_low < a_high;
}

// The bytes that a tensor's elements touch: a span for n = 1, and a step further for each n more.
struct Reach {
  int64_t low, low_step;
  int64_t high, high_step;
  bool empty;  // whatever n is

  Span at(int64_t n) const {
    return {low_step ? low + low_step * (n - 1) : low, high_step ? high + high_step * (n - 1) : high};
  }
};

// Where the elements of a tensor lie.
struct Layout {
  Reach reach;
  int64_t largest_n;  // the largest open extent for which no size or stride leaves int64
  Scaled strides[GTH_MAX_NDIM];
};

// Strides of a description (dense row-major where it gives none) and their reach, held against its extent. The sizes
// have been checked.
int32_t resolve_layout(const gth_tensor_desc& desc, int64_t bytes, int32_t operand, Layout* out, const Error& error);

// Whether a tensor lies densely on the host, so that its bytes are known from its extents alone.
bool is_dense(const gth_tensor_desc& desc);

// A dense description with nothing in it that a check could stumble over, its extents, dtype and memory excepted.
// A pointer: a reference would promise the compiler more memory than a size that is too small does.
bool is_exact(const gth_tensor_desc* given, uint32_t allowed_flags);

// The end of `bytes` bytes of elements of a dense tensor, counted from the data pointer. False: it is not described.
bool find_dense_end(const gth_tensor_desc& desc, int64_t bytes, int64_t* end);

// The product of extents [begin, end) and `size`; 0 where one of them is empty, negative or leads out of int64.
int64_t dense_product(const int64_t* extents, int32_t begin, int32_t end, int64_t size);

// That no two elements of a tensor that is written share bytes: with the dims sorted by |stride|, each |stride| is at least the extent
// of all smaller ones. May lower layout->largest_n.
int32_t check_disjoint(const gth_tensor_desc& desc, int64_t bytes, int32_t operand, Layout* layout, const Error& error);

}  // namespace gather::core
