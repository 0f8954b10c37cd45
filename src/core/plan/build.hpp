#pragma once

#include "core/plan/placement.hpp"
#include "core/plan/plan.hpp"
#include "core/meaning/request.hpp"

namespace gather::core {

// The plan of any request that has been checked.
void build(const Request& request, const Meaning& meaning, const Placement& placement, Plan* plan);

// The plan of dense row-major tensors on the CPU with elements and without an open extent, which most requests are
// about: without the general machinery, which would cost several times the gather of a row. False: the request is
// another kind, or something is wrong with its memory; the checks of placement say what.
bool build_dense(const Request& request, const Meaning& meaning, Plan* plan);

// What both builders take from the settings alone.
void set_switches(const Request& request, const Meaning& meaning, Plan* plan);

}  // namespace gather::core
