#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/pointers.hpp"
#include "cpu/executor.hpp"

namespace gather::cpu {

// Finds the update that each element of the target has after a scatter with max or min. Validates all indices first.
// Then writes the number of its element in the updates to `positions`, which has the shape of the target. An element that
// keeps the value of the target is unchanged there. Precondition: target and updates are dense, and all positions are
// -1. Returns GTH_OK, GTH_E_INDEX or GTH_E_RACE.
int32_t find_updates(const core::Plan& plan, const core::Pointers& pointers, int64_t* positions,
                     const Executor& executor, const core::Error& error);

}  // namespace gather::cpu
