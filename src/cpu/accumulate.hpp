#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "cpu/executor.hpp"
#include "cpu/job.hpp"

namespace gather::cpu {

// Writes a scatter whose tuples have been judged, each element accumulated in float32 and rounded once. Returns GTH_OK,
// GTH_E_NOMEM with nothing written, or GTH_E_RACE.
int32_t accumulate(const Job& job, const Executor& executor, const core::Error& error);

}  // namespace gather::cpu
