#pragma once

#include "core/base/noinline.hpp"
#include "core/plan/pointers.hpp"
#include "cpu/executor.hpp"
#include "cpu/kernels.hpp"

namespace gather::cpu {

class FileRows;

// Validates bags and ids, and writes nothing. Returns GTH_OK, GTH_E_OFFSETS or GTH_E_INDEX.
GATHER_NOINLINE int32_t validate_bags(const core::Plan& plan, const Kernels& kernels, const core::Pointers& pointers,
                                      int64_t n, const Executor& executor, const core::Error& error);

// Pools the slices of each bag. Everything is validated before the first write. `files` has the tables in files, or is
// NULL. Returns the statuses of validate_bags, GTH_E_RACE, and with files GTH_E_IO and GTH_E_NOMEM.
GATHER_NOINLINE int32_t run_bags(const core::Plan& plan, const Kernels& kernels, const core::Pointers& pointers,
                                 int64_t n, const Executor& executor, FileRows* files, const core::Error& error);

}  // namespace gather::cpu
