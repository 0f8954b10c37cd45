#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "cpu/executor.hpp"
#include "cpu/indices.hpp"
#include "cpu/job.hpp"

// Pass 1: every index is judged, the smallest bad tuple wins.
namespace gather::cpu {

// Judges all tuples of a run by the policy of its plan. Returns GTH_OK or GTH_E_INDEX.
int32_t judge_all(const Job& job, const Executor& executor, const core::Error& error);

// The words for a bad tuple.
int32_t fail_bad_tuple(const core::Plan& plan, int64_t position, const BadTuple& bad, const core::Error& error);

}  // namespace gather::cpu
