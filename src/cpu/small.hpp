#pragma once

#include <cstdint>

#include "core/base/noinline.hpp"
#include "cpu/job.hpp"
#include "cpu/prepare.hpp"

namespace gather::cpu {

// Returns true if all tuples of a job are one span, and its rows are too few for several threads.
bool is_small(const Job& job);

// Runs a small job with Kernels::move. It resolves all tuples before it calls `prepare` and writes the first row. So
// each index is loaded once. Returns GTH_OK, GTH_E_INDEX or the error of `prepare`.
GATHER_NOINLINE int32_t run_small(const Job& job, const Prepare& prepare, const core::Error& error);

}  // namespace gather::cpu
