#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/scaled.hpp"

namespace gather::core {

// Bytes from the data pointer that a tensor's elements touch: [low, high) for n = 1, and a step further for each n
// more.
struct Reach {
  int64_t low, low_step;
  int64_t high, high_step;
  bool empty;  // whatever n is

  int64_t low_at(int64_t n) const { return low_step ? low + low_step * (n - 1) : low; }
  int64_t high_at(int64_t n) const { return high_step ? high + high_step * (n - 1) : high; }
};

// Where the elements of a tensor lie.
struct Layout {
  Reach reach;
  int64_t largest_n;  // the largest open extent for which no size or stride leaves int64
  Scaled strides[GTH_MAX_NDIM];
};

// The product of the extents, each taken as at least 1, times `bytes` fits int64. Open extents count as 1.
int32_t check_size(int32_t ndim, const int64_t* shape, int64_t bytes, int32_t operand, const Error& error);

// Strides of a description (dense row-major where it gives none) and their reach, held against its extent. The sizes
// have been checked.
int32_t resolve_layout(const gth_tensor_desc& desc, int64_t bytes, int32_t operand, Layout* out, const Error& error);

// That no two elements of an output share bytes: with the dims sorted by |stride|, each |stride| is at least the extent
// of all smaller ones. May lower layout->largest_n.
int32_t check_disjoint(const gth_tensor_desc& desc, int64_t bytes, Layout* layout, const Error& error);

}  // namespace gather::core
