#pragma once

#include "cuda/device_context.hpp"
#include "cuda/launch.hpp"

namespace gather::cuda {

// Runs a scatter in stream order. The target is unchanged if an index is invalid. Precondition: the run has updates.
int32_t run_scatter(Context& context, runtime::Stream stream, const core::Plan& plan, const core::Pointers& pointers,
                    int64_t n, const Place& place, bool is_captured, const Error& error);

}  // namespace gather::cuda
