#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "cpu/before_write.hpp"
#include "cpu/executor.hpp"
#include "cpu/job.hpp"

namespace gather::cpu {

// Runs a scatter that accumulates in a wider type and rounds each element once. Precondition: the tuples have been
// validated. Calls `before_write` after memory has been allocated. Returns GTH_OK, GTH_E_NOMEM, the error of
// `before_write`, or GTH_E_RACE. Only after GTH_OK and GTH_E_RACE has the target been written.
int32_t accumulate(const Job& job, const BeforeWrite& before_write, const Executor& executor, const core::Error& error);

}  // namespace gather::cpu
