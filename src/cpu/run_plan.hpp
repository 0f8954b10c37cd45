#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/noinline.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/pointers.hpp"
#include "cpu/before_write.hpp"
#include "cpu/executor.hpp"
#include "cpu/kernels.hpp"

namespace gather::cpu {

// Runs a plan with the kernels chosen for it. Precondition: the pointers have been checked, and no operand is in files.
// Allocates nothing. Returns GTH_OK, GTH_E_INDEX or GTH_E_RACE.
int32_t run(const core::Plan& plan, const Kernels& kernels, const core::Pointers& pointers, int64_t n,
            core::Output output, const Executor& executor, const core::Error& error);

// The same for a plan of tables in files. Also returns GTH_E_IO, GTH_E_NOMEM, and GTH_E_ALIAS if the output overlaps a
// segment in memory.
GATHER_NOINLINE int32_t run_files(const core::Plan& plan, const Kernels& kernels, const core::Pointers& pointers,
                                  int64_t n, const Executor& executor, const core::Error& error);

// Requests the rows that the indices of a gather from a table in files select. Invalid indices must be skipped.
GATHER_NOINLINE void request_rows(const core::Plan& plan, const core::Pointers& pointers);

// Copies the slices [first, last) of the output of a gather. Precondition: as of run, and core::parts_of has returned
// more than 1. If an index is invalid, some of the slices may have been written.
GATHER_NOINLINE int32_t run_slices(const core::Plan& plan, const Kernels& kernels, const core::Pointers& pointers,
                                   int64_t n, int64_t first, int64_t last, const Executor& executor,
                                   const core::Error& error);

// Runs a scatter into a target that `before_write` initialises. `before_write` is called after all steps that can fail, except
// with GTH_E_RACE. It is also called if there is nothing to scatter.
GATHER_NOINLINE int32_t run_scatter(const core::Plan& plan, const Kernels& kernels, const core::Pointers& pointers,
                                    const BeforeWrite& before_write, const Executor& executor,
                                    const core::Error& error);

// Validates the indices of a run, and reads or writes no rows. Returns GTH_OK or GTH_E_INDEX.
GATHER_NOINLINE int32_t validate(const core::Plan& plan, const Kernels& kernels, const core::Pointers& pointers,
                                 int64_t n, const Executor& executor, const core::Error& error);

}  // namespace gather::cpu
