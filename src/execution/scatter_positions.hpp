#pragma once

#include <cstdint>

#include "core/meaning/request.hpp"
#include "execution/context.hpp"

// The positions of the maxima or minima of scatters. The plan is that of the scatter with a dense target and dense
// updates, so that an offset in one of them is the number of an element.
namespace gather::execution {

// Validates the request of a scatter, and writes the positions of its maxima or minima.
int32_t run_scatter_positions(const Context& context, const core::Request& request, const gth_tensor_desc& positions,
                              const Error& error);

}  // namespace gather::execution
