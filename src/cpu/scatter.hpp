#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/noinline.hpp"
#include "cpu/executor.hpp"
#include "cpu/job.hpp"
#include "cpu/prepare.hpp"

namespace gather::cpu {

// Runs the job of a scatter that has something to write. Every index is validated, and memory is allocated, before
// `prepare` is called and the first byte is written. Returns GTH_OK, GTH_E_INDEX, GTH_E_RACE or what `prepare` returns, and
// GTH_E_NOMEM where it accumulates in float32; otherwise it allocates nothing.
GATHER_NOINLINE int32_t scatter(const Job& job, const Prepare& prepare, const Executor& executor,
                                const core::Error& error);

}  // namespace gather::cpu
