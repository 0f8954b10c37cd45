#include "core/os/testing.hpp"

#include <atomic>

namespace {

std::atomic<int64_t> first_failure{0};
std::atomic<int32_t> is_sticky{0};
std::atomic<int64_t> allocations{0};
std::atomic<int64_t> partition_steps{0};

}  // namespace

extern "C" void gth_testing_fail_allocation(int64_t n, int32_t sticky) {
  allocations = 0;
  is_sticky = sticky;
  first_failure = n;
}

extern "C" int64_t gth_testing_allocations(void) { return allocations; }

extern "C" int64_t gth_testing_take_steps(void) { return partition_steps.exchange(0); }

namespace gather::core {

bool testing_refuses_allocation() noexcept {
  const int64_t number = ++allocations;
  const int64_t first = first_failure;
  return first > 0 && (number == first || (number > first && is_sticky));
}

void testing_note_steps(int64_t steps) noexcept { partition_steps += steps; }

}  // namespace gather::core
