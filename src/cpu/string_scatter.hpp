#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/strings.hpp"
#include "core/plan/plan.hpp"
#include "cpu/executor.hpp"

namespace gather::cpu {

// Scatters strings in three steps, because the size of the result is unknown at first. `find` selects the string of
// each element. `measure` computes the offsets of the result. `copy` copies its bytes.
struct StringScatter {
  core::Strings target, updates;
  int64_t target_count, updates_count;
  // Has target_count + updates_count elements. After `find`, the first target_count of them are the numbers of the
  // selected strings. Numbers below target_count are strings of the target, the others are updates.
  int64_t* numbers;

  // Precondition: `plan` is lowered from dense descriptions of dtype string. Returns GTH_OK, GTH_E_INDEX or GTH_E_RACE.
  int32_t find(const core::Plan& plan, const char* indices, const Executor& executor, const core::Error& error) const;

  // Precondition: `offsets` has target_count + 1 elements. Returns GTH_OK, GTH_E_RACE or GTH_E_SIZE.
  int32_t measure(int64_t* offsets, const core::Error& error) const;

  // Precondition: the size of `bytes` is the last of `offsets`. Returns GTH_OK or GTH_E_RACE.
  int32_t copy(const int64_t* offsets, char* bytes, const core::Error& error) const;
};

}  // namespace gather::cpu
