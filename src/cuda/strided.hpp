#pragma once

#include <cstdint>

#include "cuda/scatter_job.hpp"
#include "gather/gather.h"

// Writes a tensor with any strides, unless a call is refused: zeros, or the elements of another tensor.
namespace gather::cuda {

struct StridedJob {
  char* target;
  const char* from;          // nullptr: zeros
  int64_t vectors, columns;  // of `bytes` bytes, in a row and in all
  int32_t bytes;             // 1 to 16
  int32_t loops;
  const State* state;          // nullptr if nothing is validated
  RowLoop loop[GTH_MAX_NDIM];  // `updates` is the stride in `from`
};

// Precondition of both: the tensor has elements, of `item` bytes.
void make_clear(const gth_tensor_desc& tensor, int64_t item, StridedJob* out);
// Precondition: the tensors have the same shape.
void make_copy(const gth_tensor_desc& from, const gth_tensor_desc& to, int64_t item, StridedJob* out);

}  // namespace gather::cuda
