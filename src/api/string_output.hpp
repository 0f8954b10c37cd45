#pragma once

#include "api/tensor.hpp"

namespace gather::api {

// Creates a string tensor with ndim and shape of `desc` from two storages of the library. It always takes ownership of
// the reference to `bytes`. It adds a reference to `offsets`, and the caller keeps its own.
int32_t make_string_output(const gth_tensor_desc& desc, const core::Strings& strings, bool binary, Storage* offsets,
                           Storage* bytes, gth_tensor** out, const Error& error);

}  // namespace gather::api
