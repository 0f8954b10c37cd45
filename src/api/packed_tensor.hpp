#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/os/memory.hpp"
#include "execution/storage.hpp"
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

// Creates a packed tensor of a description with a codec. `flags` are added to those of its description. It takes
// ownership of `storage`, which may be nullptr, only if it returns GTH_OK. The operand of errors is PARAMS.
int32_t make_packed(const gth_tensor_desc& table, uint32_t flags, execution::Storage* storage, gth_tensor** out,
                    const core::Error& error);

// Frees what belongs to the codec of a packed tensor.
inline void release_packed(const gth_codec* codec) {
  static_assert(offsetof(PackedTensor, codec) == 0, "the codec is the first member");
  delete reinterpret_cast<const PackedTensor*>(codec);
}

}  // namespace gather::api
