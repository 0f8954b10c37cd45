#pragma once

#include <cstdint>

#include "core/plan/pointers.hpp"
#include "core/plan/short.hpp"

namespace gather::cpu {

// Runs a short form. Returns false, and writes nothing, if the run has too many rows or is invalid. run() then runs the
// plan or reports the error. `given` is the size of the memory; nullptr means that it is sufficient.
bool run_short(const core::Short& form, const core::Pointers& pointers, int64_t n, const core::Extents* given);

// Returns true if run_short can run this gather. *spans receives the accessed memory. Returns false for a scatter.
bool check_short(const core::Short& form, const core::Pointers& pointers, int64_t n, const core::Extents* given,
                 core::Spans* spans);

}  // namespace gather::cpu
