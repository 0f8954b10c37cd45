#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/strings.hpp"
#include "core/plan/plan.hpp"
#include "cpu/executor.hpp"

namespace gather::cpu {

// Gathers strings in three steps, because the size of the result is unknown at first. Step 1 finds the beginning of
// each slice. Step 2 computes the offsets of the result. Step 3 copies its bytes. Precondition of all functions: `plan`
// is lowered from dense descriptions of dtype string.

// Runs steps 1 and 2. `begins` has one element for each slice and is zeroed. It receives the offset of the first byte
// of each slice. `offsets` has one element for each string and one more. Returns GTH_OK, GTH_E_INDEX, GTH_E_RACE or
// GTH_E_SIZE.
int32_t gather_string_offsets(const core::Plan& plan, const core::Strings& table, const char* indices,
                              const Executor& executor, int64_t* begins, int64_t* offsets, const core::Error& error);

// Runs step 3 with the results of steps 1 and 2. Preconditions: no other thread writes these results, and the size of
// `bytes` is the last of `offsets`.
void gather_string_bytes(const core::Plan& plan, const core::Strings& table, const Executor& executor,
                         const int64_t* begins, const int64_t* offsets, char* bytes);

}  // namespace gather::cpu
