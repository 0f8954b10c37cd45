#pragma once

#include <cstdint>

#include "cuda/scatter_job.hpp"
#include "gather/gather.h"

// Sets a tensor with any strides to zero, unless a call is refused.
namespace gather::cuda {

struct ClearJob {
  char* target;
  int64_t vectors, columns;  // of `bytes` bytes, in a row and in all
  int32_t bytes;             // 1 to 16
  int32_t loops;
  const State* state;  // nullptr if indices are not validated
  RowLoop loop[GTH_MAX_NDIM];
};

// Precondition: the tensor has elements, of `item` bytes.
void make_clear(const gth_tensor_desc& tensor, int64_t item, ClearJob* out);

}  // namespace gather::cuda
