#pragma once

#include <cstddef>
#include <cstdint>

#include "core/os/memory.hpp"
#include "gather/gather.h"

namespace gather::api {

// The codec of a packed tensor, with copies of all that it refers to except the memory.
struct PackedTensor : core::Allocated {
  struct Part {
    gth_tensor_desc desc;
    int64_t shape[GTH_MAX_NDIM], strides[GTH_MAX_NDIM];
  };

  gth_codec codec;  // the first member, so that its address is that of the object
  Part scales, zeros;
  float table[16];
  int64_t strides[GTH_MAX_NDIM];  // of the rows
};

// Frees what belongs to the codec of a packed tensor.
inline void release_packed(const gth_codec* codec) {
  static_assert(offsetof(PackedTensor, codec) == 0, "the codec is the first member");
  delete reinterpret_cast<const PackedTensor*>(codec);
}

}  // namespace gather::api
