#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/plan.hpp"
#include "cpu/executor.hpp"
#include "cpu/rows.hpp"

namespace gather::cpu {

// Runs a plan on checked pointers. Allocates nothing. Returns GTH_OK, GTH_E_INDEX or GTH_E_RACE.
int32_t run(const core::Plan& plan, const core::Pointers& pointers, int64_t n, const Executor& executor,
            const core::Error& error);

// As run, with a copy of one's own in place of the plan's.
int32_t run_with(const core::Plan& plan, const core::Pointers& pointers, int64_t n, const Executor& executor,
                 CopyRows copy, const core::Error& error);

}  // namespace gather::cpu
