#pragma once

#include <cstdint>

#include "core/plan/operands.hpp"
#include "core/plan/short.hpp"
#include "cpu/tiers/tier.hpp"

namespace gather::cpu {

// Runs the short form of a gather. False: nothing was written, because the run is not one of a few rows or something is
// wrong with it; run() of the plan knows what. given: how much memory there is; nullptr: enough.
bool run_short(const core::Short& form, CopyRows copy, const core::Pointers& pointers, int64_t n,
               const core::Extents* given);

}  // namespace gather::cpu
