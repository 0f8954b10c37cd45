#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "cpu/before_write.hpp"
#include "cpu/executor.hpp"
#include "cpu/job.hpp"

namespace gather::cpu {

// Computes means: divides the sums of slices, which `write_sums` computes, by the number of their terms. Precondition:
// the tuples have been validated. Calls `write_sums` after memory has been allocated. Returns GTH_OK, GTH_E_NOMEM, the
// error of `write_sums`, or GTH_E_RACE. After GTH_E_NOMEM the target is unchanged.
int32_t divide_sums(const Job& job, const BeforeWrite& write_sums, const Executor& executor, const core::Error& error);

}  // namespace gather::cpu
