#pragma once

#include "core/base/noinline.hpp"
#include "core/plan/pointers.hpp"
#include "cpu/executor.hpp"
#include "cpu/kernels.hpp"

namespace gather::cpu {

// Validates bags and ids, and writes nothing. Returns GTH_OK, GTH_E_OFFSETS or GTH_E_INDEX.
GATHER_NOINLINE int32_t validate_bags(const core::Plan& plan, const Kernels& kernels, const core::Pointers& pointers,
                                      int64_t n, const Executor& executor, const core::Error& error);

// Pools the slices of each bag. Everything is validated before the first write. Returns the statuses of validate_bags,
// and GTH_E_RACE.
GATHER_NOINLINE int32_t run_bags(const core::Plan& plan, const Kernels& kernels, const core::Pointers& pointers,
                                 int64_t n, const Executor& executor, const core::Error& error);

}  // namespace gather::cpu
