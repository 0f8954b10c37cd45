#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "cpu/executor.hpp"
#include "cpu/indices.hpp"
#include "cpu/job.hpp"

// Pass 1 of a run: the validation of all indices.
namespace gather::cpu {

// Validates all tuples of a run by the `bounds` of its plan. Returns GTH_OK or GTH_E_INDEX. The error names the invalid
// tuple with the smallest position.
int32_t validate_all(const Job& job, const Executor& executor, const core::Error& error);

// Writes the error of a run that has found an invalid index while it wrote. If the indices were validated before, they
// have changed, which is GTH_E_RACE. Otherwise the error names the first invalid tuple.
int32_t fail_write(const Job& job, bool was_validated, const Executor& executor, const core::Error& error);

// Writes the error of an invalid tuple. Returns GTH_E_INDEX.
int32_t fail_bad_tuple(const core::Plan& plan, int64_t position, const BadTuple& bad, const core::Error& error);

}  // namespace gather::cpu
