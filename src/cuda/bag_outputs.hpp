#pragma once

#include "core/meaning/request.hpp"
#include "core/plan/bag_outputs.hpp"
#include "cuda/bag_call.hpp"

namespace gather::cuda {

// Computes a gradient or the positions of bags in stream order. Nothing is written if a number of bags or an id is
// invalid. The place has no state, because the call has its own.
int32_t run_bag_outputs(Context& context, runtime::Stream stream, const core::Plan& plan, const core::Request& request,
                        const core::BagOutputs& outputs, const Place& place, bool is_captured, const Error& error);

}  // namespace gather::cuda
