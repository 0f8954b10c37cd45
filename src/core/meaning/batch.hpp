#pragma once

#include <cstdint>

#include "core/meaning/geometry.hpp"
#include "core/options/profile.hpp"

namespace gather::core {

// Checks that the batch dims of table and indices correspond, by the rule of the profile. May set
// geometry->has_batch_split. Precondition: axis, batch and components are resolved.
int32_t check_batch(BatchRule rule, const gth_tensor_desc& table, const gth_tensor_desc& indices, Open open,
                    Geometry* geometry, const Error& error);

}  // namespace gather::core
