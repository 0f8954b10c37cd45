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
// Makes the n-th call that opens, measures, reads or maps a file fail with the error number, or with 0, process one byte
// only. n counts from 1, and 0 disables failures. With `sticky`, all later calls do the same.
GTH_EXPORT void gth_testing_fail_file(int64_t n, int32_t number, int32_t sticky);
// Returns the number of such calls since the last gth_testing_fail_file.
GTH_EXPORT int64_t gth_testing_file_calls(void);
}

namespace gather::core {

// Counts an allocation. Returns true if it has to fail.
bool testing_refuses_allocation() noexcept;

// Counts a call for `bytes` bytes of a file. Returns how many of them it may process, or -1 with errno.
int64_t testing_limits_file_call(int64_t bytes) noexcept;

// Adds to the number of steps.
void testing_note_steps(int64_t steps) noexcept;

}  // namespace gather::core
