#pragma once

#include "core/meaning/request.hpp"
#include "cuda/device_context.hpp"
#include "cuda/launch.hpp"

namespace gather::cuda {

// Finds the positions of a scatter in stream order. Nothing is written if an index is invalid. The plan is that of a
// scatter to an array from an array. The place has no state, because the call has its own.
int32_t run_scatter_positions(Context& context, runtime::Stream stream, const core::Plan& plan,
                              const core::Request& request, const gth_tensor_desc& positions, const Place& place,
                              bool is_captured, const Error& error);

}  // namespace gather::cuda
