#pragma once

#include "api/context.hpp"

namespace gather::api {

// Copies every element between tensors (not of strings) of one dtype and shape, wherever the context reaches.
int32_t run_copy(const Context& context, const gth_tensor_desc& source, const gth_tensor_desc& destination,
                 const Error& error);

}  // namespace gather::api
