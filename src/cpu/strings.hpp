#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/plan.hpp"
#include "core/strings.hpp"
#include "cpu/executor.hpp"

namespace gather::cpu {

// Strings are gathered in three steps, because the size of the result is not known before: where in params' offsets
// each slice begins, the offsets of the result, its bytes. `plan` is lowered from dense descriptions of dtype string.

// Steps 1 and 2. `firsts` has room for every slice and is zeroed: a slice that selects nothing stays nullptr. `offsets`
// has room for every string and one more. Returns GTH_OK, GTH_E_INDEX, GTH_E_RACE or GTH_E_SIZE.
int32_t gather_string_offsets(const core::Plan& plan, const core::Strings& params, const char* indices,
                              const Executor& executor, const int64_t** firsts, int64_t* offsets,
                              const core::Error& error);

// Step 3. `bytes` has room for the last of `offsets`. Returns GTH_OK or GTH_E_RACE.
int32_t gather_string_bytes(const core::Plan& plan, const core::Strings& params, const int64_t* const* firsts,
                            const int64_t* offsets, char* bytes, const core::Error& error);

}  // namespace gather::cpu
