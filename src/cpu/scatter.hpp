#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/noinline.hpp"
#include "cpu/before_write.hpp"
#include "cpu/executor.hpp"
#include "cpu/job.hpp"

namespace gather::cpu {

// Runs a scatter with at least one element to write. It validates all indices and allocates memory, then calls
// `before_write`, and then writes. Returns GTH_OK, GTH_E_INDEX, GTH_E_RACE or the error of `before_write`. Only a scatter that
// accumulates in float32 allocates memory, and may return GTH_E_NOMEM.
GATHER_NOINLINE int32_t scatter(const Job& job, const BeforeWrite& before_write, const Executor& executor,
                                const core::Error& error);

}  // namespace gather::cpu
