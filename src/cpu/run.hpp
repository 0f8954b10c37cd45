#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/noinline.hpp"
#include "core/plan/operands.hpp"
#include "core/plan/plan.hpp"
#include "cpu/executor.hpp"
#include "cpu/kernels.hpp"
#include "cpu/prepare.hpp"

namespace gather::cpu {

// Runs a plan on checked pointers by the kernels chosen for it. Allocates nothing. Returns GTH_OK, GTH_E_INDEX or
// GTH_E_RACE.
int32_t run(const core::Plan& plan, const Kernels& kernels, const core::Pointers& pointers, int64_t n,
            core::Output output, const Executor& executor, const core::Error& error);

// As run, for a scatter into a target that `prepare` initialises. prepare is called after everything that can fail, except
// for a race, and also if there is nothing to scatter. The only error after it is GTH_E_RACE.
GATHER_NOINLINE int32_t run_prepared(const core::Plan& plan, const Kernels& kernels, const core::Pointers& pointers,
                                     const Prepare& prepare, const Executor& executor, const core::Error& error);

// Judges the indices of a run and does nothing else. Returns GTH_OK or GTH_E_INDEX.
GATHER_NOINLINE int32_t judge(const core::Plan& plan, const Kernels& kernels, const char* indices, int64_t n,
                              const Executor& executor, const core::Error& error);

}  // namespace gather::cpu
