#pragma once

#include <cstdint>

#include "core/plan/layout.hpp"
#include "cuda/scatter_job.hpp"
#include "gather/gather.h"

// Writes a tensor with any strides, unless a call is refused: equal bytes, or the elements of another tensor.
namespace gather::cuda {

struct StridedJob {
  char* target;
  const char* from;          // nullptr: the bytes of `value` are written
  int64_t vectors, columns;  // of `bytes` bytes, in a row and in all
  int32_t bytes;             // 1 to 16
  int32_t loops;
  uint64_t value;              // 0, or all ones
  const State* state;          // nullptr if nothing is validated
  RowLoop loop[GTH_MAX_NDIM];  // `updates` is the stride in `from`
};

inline char* first_byte(const gth_tensor_desc& tensor) {
  return static_cast<char*>(const_cast<void*>(tensor.data)) + tensor.offset;
}

// Returns true if a tensor is an array of aligned elements.
inline bool is_array(const gth_tensor_desc& tensor, int64_t item) {
  const bool is_aligned = reinterpret_cast<uintptr_t>(first_byte(tensor)) % static_cast<uintptr_t>(item) == 0;
  return is_aligned && (!tensor.strides || core::has_dense_strides(tensor));
}

// Precondition of both: the tensor has elements, of `item` bytes.
void make_clear(const gth_tensor_desc& tensor, int64_t item, StridedJob* out);
// Precondition: the tensors have the same shape.
void make_copy(const gth_tensor_desc& from, const gth_tensor_desc& to, int64_t item, StridedJob* out);

}  // namespace gather::cuda
