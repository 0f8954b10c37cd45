#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/scaled.hpp"

namespace gather::core {

// The bytes [low, high), relative to a data pointer.
struct Span {
  int64_t low, high;
};

// Returns true if two spans of memory share a byte.
inline bool overlap(const void* a, const Span& a_span, const void* b, const Span& b_span) {
  const uintptr_t a_at = reinterpret_cast<uintptr_t>(a), b_at = reinterpret_cast<uintptr_t>(b);
  const uintptr_t a_low = a_at + static_cast<uintptr_t>(a_span.low),
                  a_high = a_at + static_cast<uintptr_t>(a_span.high);
  const uintptr_t b_low = b_at + static_cast<uintptr_t>(b_span.low),
                  b_high = b_at + static_cast<uintptr_t>(b_span.high);
  return a_low < b_high && b_low < a_high;
}

// The range of bytes that the elements of a tensor use. low and high are for n = 1. The steps are added for each
// further unit of n.
struct Reach {
  int64_t low, low_step;
  int64_t high, high_step;
  bool empty;  // The tensor has no elements for any n.

  Span at(int64_t n) const {
    return {low_step ? low + low_step * (n - 1) : low, high_step ? high + high_step * (n - 1) : high};
  }
};

// The placement of the elements of a tensor in memory.
struct Layout {
  Reach reach;
  int64_t largest_n;  // the largest open extent for which all sizes and strides fit int64
  Scaled strides[GTH_MAX_NDIM];
};

// Computes the strides of a description and its reach, and checks the reach against the size of the memory. If the
// description has no strides, it is dense and row-major. Precondition: check_size has succeeded.
int32_t resolve_layout(const gth_tensor_desc& desc, int64_t bytes, int32_t operand, Layout* out, const Error& error);

// Returns true if the strides of a description are those of a dense row-major tensor that has elements. The stride of
// an extent of 1 has no effect. Precondition: rank and pointers are valid.
bool has_dense_strides(const gth_tensor_desc& desc);

// Returns true if a tensor is dense and in host memory, with or without strides. The size of its memory then follows
// from its extents.
bool is_dense(const gth_tensor_desc& desc);

// Returns true if a description is dense and in CPU memory, and has no invalid field except possibly extents, dtype and
// memory. The parameter is a pointer because the struct may be smaller than its type. A reference to such a struct is
// invalid.
bool is_exact(const gth_tensor_desc* given, uint32_t allowed_flags);

// A flag of descriptions of the library: the tensor is in files, and its data is a files::Table. No fast path accepts it.
constexpr uint32_t tensor_in_files = uint32_t{1} << 31;

// Computes the end of the `bytes` bytes of a dense tensor, relative to the data pointer. Returns false if the described
// memory is smaller.
bool find_dense_end(const gth_tensor_desc& desc, int64_t bytes, int64_t* end);

// Returns the product of extents [begin, end) and `size`. Returns 0 if an extent is 0 or negative, or if the product
// does not fit int64.
int64_t dense_product(const int64_t* extents, int32_t begin, int32_t end, int64_t size);

// Checks that no two elements of a written tensor share bytes. The dims are sorted by |stride|. Each |stride| must be
// at least the number of bytes that all dims with smaller strides span. May lower layout->largest_n.
int32_t check_disjoint(const gth_tensor_desc& desc, int64_t bytes, int32_t operand, Layout* layout, const Error& error);

// Returns the number of elements. Precondition: the size of the tensor has been checked.
int64_t count_elements(const gth_tensor_desc& desc);

// Returns the size of all elements in bytes. Precondition: the size has been checked, and the dtype is not string.
int64_t count_bytes(const gth_tensor_desc& desc);

}  // namespace gather::core
