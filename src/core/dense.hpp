#pragma once

#include "core/plan.hpp"

namespace gather::core {

// Lowers the requests that most calls make - dense row-major tensors on the CPU, no open extent - without the general
// machinery, which would cost several times the gather of a row. False: the request is another kind, or something is
// wrong with it; lower() decides. The plan is the one that lower() would give.
bool lower_dense(const Request& request, Plan* plan);

}  // namespace gather::core
