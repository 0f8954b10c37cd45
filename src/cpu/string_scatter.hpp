#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/plan/plan.hpp"
#include "core/base/strings.hpp"
#include "cpu/executor.hpp"

namespace gather::cpu {

// Strings are scattered in three steps, because the size of the result is not known before: which string each element is, the
// offsets of the result, its bytes.
struct StringScatter {
  core::Strings target, updates;
  int64_t target_count, updates_count;
  int64_t* numbers;  // room for both counts; of the first, those from target_count on are updates

  // `plan` is lowered from dense descriptions of dtype string. Returns GTH_OK, GTH_E_INDEX or GTH_E_RACE.
  int32_t find(const core::Plan& plan, const char* indices, const Executor& executor, const core::Error& error) const;

  // `offsets` has room for target_count + 1. Returns GTH_OK, GTH_E_RACE or GTH_E_SIZE.
  int32_t measure(int64_t* offsets, const core::Error& error) const;

  // `bytes` has room for the last of `offsets`. Returns GTH_OK or GTH_E_RACE.
  int32_t copy(const int64_t* offsets, char* bytes, const core::Error& error) const;
};

}  // namespace gather::cpu
