#pragma once

#include "core/meaning/request.hpp"
#include "core/plan/placement.hpp"
#include "core/plan/plan.hpp"

namespace gather::core {

// Builds the plan of a validated request.
void build(const Request& request, const Meaning& meaning, const Placement& placement, Plan* plan);

// Builds the same plan for a request with dense, non-empty tensors on the CPU and without an open extent. Most requests
// are of this kind. The general functions would cost several times as much as the gather of one row. Returns false for
// other requests and for invalid memory. resolve_placement() then reports the error.
bool build_dense(const Request& request, const Meaning& meaning, Plan* plan);

// Sets the fields of a plan that depend only on settings, dtype and shape.
void set_switches(const Meaning& meaning, Plan* plan);

}  // namespace gather::core
