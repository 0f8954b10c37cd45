#pragma once

#include "cuda/device_context.hpp"
#include "cuda/launch.hpp"

namespace gather::cuda {

// Pools bags in stream order. The output is unchanged if a number of bags or an id is invalid.
int32_t run_bags(Context& context, runtime::Stream stream, const core::Plan& plan, const core::Pointers& pointers,
                 int64_t n, const Place& place, bool is_captured, const Error& error);

}  // namespace gather::cuda
