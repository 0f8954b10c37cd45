#pragma once

#include <cstdint>

#include "core/base/noinline.hpp"
#include "cpu/before_write.hpp"
#include "cpu/job.hpp"

namespace gather::cpu {

// Returns true if all tuples of a job are one block, and its rows are too few for several threads.
bool is_one_block(const Job& job);

// Runs such a job with Kernels::move. It resolves all tuples before it calls `before_write` and writes the first row. So
// each index is loaded once. Returns GTH_OK, GTH_E_INDEX or the error of `before_write`.
GATHER_NOINLINE int32_t run_one_block(const Job& job, const BeforeWrite& before_write, const core::Error& error);

}  // namespace gather::cpu
