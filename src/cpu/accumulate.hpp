#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "cpu/executor.hpp"
#include "cpu/job.hpp"
#include "cpu/prepare.hpp"

namespace gather::cpu {

// Writes a scatter whose tuples have been validated, each element accumulated in float32 and rounded once. Calls `prepare`
// when memory has been allocated. Returns GTH_OK, GTH_E_NOMEM with nothing written, what `prepare` returns, or GTH_E_RACE.
int32_t accumulate(const Job& job, const Prepare& prepare, const Executor& executor, const core::Error& error);

}  // namespace gather::cpu
