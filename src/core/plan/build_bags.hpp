#pragma once

#include "core/meaning/request.hpp"
#include "core/plan/placement.hpp"

namespace gather::core {

// Builds the plan of a validated request of Form::bags.
void build_bags(const Request& request, const Meaning& meaning, const Placement& placement, Plan* plan);

}  // namespace gather::core
