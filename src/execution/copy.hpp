#pragma once

#include "execution/context.hpp"
#include "execution/storage.hpp"

namespace gather::execution {

// Copies all elements of `source` to `destination`. They have the same dtype and shape, and no strings. The memory may
// be on the host or on the device of the context.
int32_t run_copy(const Context& context, const gth_tensor_desc& source, const gth_tensor_desc& destination,
                 const Error& error);

// Copies an operand into new dense memory. *desc receives the description of the copy, whose strides are NULL. The
// caller releases the storage. Precondition: the dtype is not string.
int32_t copy_dense(const Context& context, const gth_tensor_desc& source, gth_tensor_desc* desc, Storage** storage,
                   const Error& error);

}  // namespace gather::execution
