#pragma once

#include <cstdint>

#include "core/apart.hpp"
#include "core/error.hpp"
#include "cpu/executor.hpp"
#include "cpu/job.hpp"

namespace gather::cpu {

// Runs the job of a scatter that has something to write. Every index is judged before the first byte is written. Returns
// GTH_OK, GTH_E_INDEX or GTH_E_RACE, and GTH_E_NOMEM where it accumulates in float32; otherwise it allocates nothing.
GATHER_APART int32_t scatter(const Job& job, const Executor& executor, const core::Error& error);

}  // namespace gather::cpu
