#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/plan/plan.hpp"
#include "core/base/strings.hpp"
#include "cpu/executor.hpp"

namespace gather::cpu {

// Strings are gathered in three steps, because the size of the result is not known before: where each slice begins, the
// offsets of the result, its bytes. `plan` is lowered from dense descriptions of dtype string.

// Steps 1 and 2. `begins` has room for every slice and is zeroed; it receives where the bytes of each begin. `offsets` has
// room for every string and one more. Returns GTH_OK, GTH_E_INDEX, GTH_E_RACE or GTH_E_SIZE.
int32_t gather_string_offsets(const core::Plan& plan, const core::Strings& params, const char* indices,
                              const Executor& executor, int64_t* begins, int64_t* offsets, const core::Error& error);

// Step 3, of what steps 1 and 2 have found and nobody else can write. `bytes` has room for the last of `offsets`.
void gather_string_bytes(const core::Plan& plan, const core::Strings& params, const Executor& executor,
                         const int64_t* begins, const int64_t* offsets, char* bytes);

}  // namespace gather::cpu
