#pragma once

#include "core/meaning/request.hpp"
#include "core/plan/plan.hpp"

namespace gather::core {

// Sets plan->line to the loop that runs innermost. Precondition: plan->loops consists of all loops in front of the
// inner loops, and the batch split is set. If no loop steps from tuple to tuple, a loop with one step is appended as
// the line. If the request must run in order, the writes to each slice stay in the order of positions.
void choose_line(const Request& request, Plan* plan);

}  // namespace gather::core
