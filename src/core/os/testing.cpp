#include "core/os/testing.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace {

std::atomic<int64_t> first_failure{0};
std::atomic<int32_t> is_sticky{0};
std::atomic<int64_t> allocations{0};
std::atomic<int64_t> partition_steps{0};
std::atomic<int64_t> file_calls{0}, first_file_failure{0};
std::atomic<int32_t> file_error{0}, are_file_failures_sticky{0};

}  // namespace

extern "C" void gth_testing_fail_allocation(int64_t n, int32_t sticky) {
  allocations = 0;
  is_sticky = sticky;
  first_failure = n;
}

extern "C" int64_t gth_testing_allocations(void) { return allocations; }

extern "C" int64_t gth_testing_take_steps(void) { return partition_steps.exchange(0); }

extern "C" void gth_testing_fail_file(int64_t n, int32_t number, int32_t sticky) {
  file_calls = 0;
  file_error = number;
  are_file_failures_sticky = sticky;
  first_file_failure = n;
}

extern "C" int64_t gth_testing_file_calls(void) { return file_calls; }

namespace gather::core {

bool testing_refuses_allocation() noexcept {
  const int64_t number = ++allocations;
  const int64_t first = first_failure;
  return first > 0 && (number == first || (number > first && is_sticky));
}

int64_t testing_limits_file_call(int64_t bytes) noexcept {
  const int64_t number = ++file_calls, first = first_file_failure;
  if (first <= 0 || number < first || (number > first && !are_file_failures_sticky)) return bytes;
  if (file_error == 0) return std::min<int64_t>(bytes, 1);
  errno = file_error;
  return -1;
}

void testing_note_steps(int64_t steps) noexcept { partition_steps += steps; }

}  // namespace gather::core
