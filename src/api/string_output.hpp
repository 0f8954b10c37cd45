#pragma once

#include "api/tensor.hpp"

namespace gather::api {

// A string tensor of ndim and shape of `desc` over two buffers of ours. Takes over `bytes`, whatever it returns; `offsets` is
// shared, and the caller lets go of its own reference.
int32_t make_string_output(const gth_tensor_desc& desc, const core::Strings& strings, bool binary, Storage* offsets,
                           Storage* bytes, gth_tensor** out, const Error& error);

}  // namespace gather::api
