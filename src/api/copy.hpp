#pragma once

#include "api/context.hpp"
#include "api/storage.hpp"

namespace gather::api {

// Copies every element between tensors (not of strings) of one dtype and shape, wherever the context reaches.
int32_t run_copy(const Context& context, const gth_tensor_desc& source, const gth_tensor_desc& destination,
                 const Error& error);

// Copies an operand (not of strings) into new dense row-major memory. *desc receives its description, whose strides are
// NULL. The caller releases the storage.
int32_t copy_dense(const Context& context, const gth_tensor_desc& source, gth_tensor_desc* desc, Storage** storage,
                   const Error& error);

}  // namespace gather::api
