#pragma once

#include <cstdint>

#include "core/meaning/request.hpp"
#include "core/plan/plan.hpp"

namespace gather::core {

// Validates everything that does not depend on data, in the order that gather.h promises, and builds the plan.
// build.hpp describes the two ways to build it.
int32_t lower(const Request& request, Plan* plan, const Error& error);

// Returns the indices of a gather_nd that selects all of a table: one tuple without components. They have no memory, so
// every device accepts them.
gth_tensor_desc indices_of_all();

// Builds the plan that copies `source` to `destination` on a context's device. Both have the same dtype and shape.
int32_t lower_copy(const gth_tensor_desc& source, const gth_tensor_desc& destination, int32_t device, int32_t device_id,
                   Plan* plan, const Error& error);

}  // namespace gather::core
