#pragma once

#include <cstdint>

#include "core/plan/plan.hpp"
#include "core/meaning/request.hpp"

namespace gather::core {

// Checks everything that does not need data, in the order of the contract, and lowers to a plan. What the request means
// is checked once; then the plan is built in one of two ways (build.hpp).
int32_t lower(const Request& request, Plan* plan, const Error& error);

// The plan that copies `source` to `destination`, of the same dtype and shape, element by element, on a context's device.
int32_t lower_copy(const gth_tensor_desc& source, const gth_tensor_desc& destination, int32_t device, int32_t device_id,
                   Plan* plan, const Error& error);

}  // namespace gather::core
