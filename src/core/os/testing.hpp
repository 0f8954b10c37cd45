#pragma once

#include <cstdint>

// Failure points and counters, in test builds only.
extern "C" {

// Makes the n-th allocation from now on fail (n counts from 1; 0: none), and with `sticky` all later ones too.
__attribute__((visibility("default"))) void gth_testing_fail_allocation(int64_t n, int32_t sticky);
// Allocations asked for since the last gth_testing_fail_allocation.
__attribute__((visibility("default"))) int64_t gth_testing_allocations(void);
// Returns how many ids partitions have looked at to find equal rows, and sets the number to 0. An id counts once for each
// slot of a hash table and for each pass of a sort.
__attribute__((visibility("default"))) int64_t gth_testing_take_steps(void);
}

namespace gather::core {

bool testing_refuses_allocation() noexcept;

void testing_note_steps(int64_t steps) noexcept;

}  // namespace gather::core
