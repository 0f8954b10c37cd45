#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/pointers.hpp"
#include "cpu/executor.hpp"

namespace gather::cpu {

// The validity bits of indices in the order of Arrow. Bit `offset` is that of the first index.
struct IndexValidity {
  const uint8_t* bits;  // nullptr: no index is null
  int64_t offset;

  bool is_null(int64_t position) const {
    const int64_t bit = offset + position;
    return bits && !(bits[bit / 8] >> (bit % 8) & 1);
  }
};

// Writes the number of the row that each index selects, in row-major order. It is -1 for a null index, and if bounds =
// fill or skip selects no row. Preconditions: the plan gathers elements of 8 bytes from a table of rank 1, and the
// pointers have been checked. Returns GTH_OK, GTH_E_INDEX or GTH_E_RACE.
int32_t resolve_rows(const core::Plan& plan, const char* indices, const IndexValidity& validity, core::Output output,
                     int64_t* rows, const Executor& executor, const core::Error& error);

}  // namespace gather::cpu
