#pragma once

#include <cstdint>

#include "gather/gather.h"

// Failure points and counters, in test builds only.
extern "C" {

// Makes the n-th allocation after this call fail. n counts from 1, and 0 disables failures. With `sticky`, all later
// allocations fail too.
GTH_EXPORT void gth_testing_fail_allocation(int64_t n, int32_t sticky);
// Returns the number of allocations since the last gth_testing_fail_allocation.
GTH_EXPORT int64_t gth_testing_allocations(void);
// Returns the number of steps in which gth_partition has searched for equal rows, and sets it to 0. A step is one slot
// of a hash table, or one id in one pass of a sort.
GTH_EXPORT int64_t gth_testing_take_steps(void);
}

namespace gather::core {

// Counts an allocation. Returns true if it has to fail.
bool testing_refuses_allocation() noexcept;

// Adds to the number of steps.
void testing_note_steps(int64_t steps) noexcept;

}  // namespace gather::core
