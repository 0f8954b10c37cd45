#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/os/os.hpp"
#include "core/os/os_parts.hpp"

// The kernel's wait on a word: in no public header, and what the C++ library of the system itself waits with.
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the system has named them
extern "C" int __ulock_wait(uint32_t operation, void* address, uint64_t value, uint32_t microseconds);
extern "C" int __ulock_wake(uint32_t operation, void* address, uint64_t value);
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

namespace gather::core {

// ---- CPUs and memory

// A process has no affinity here, and no quota.
int32_t cgroup_cpus(const char*, const char*) { return 0; }

int32_t count_cpus() {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int32_t>(online) : 1;
}

// The system has no word for it.
void advise_huge_pages(void*, int64_t) {}

// ---- Waiting

namespace {

constexpr uint32_t compare_and_wait = 1, no_errno = 0x1000000;  // UL_COMPARE_AND_WAIT, ULF_NO_ERRNO

void* address_of(const std::atomic<uint32_t>& word) { return const_cast<std::atomic<uint32_t>*>(&word); }

}  // namespace

void sleep_while(const std::atomic<uint32_t>& word, uint32_t value, int64_t microseconds) {
  if (microseconds == 0) return;  // to the kernel, for ever
  const auto most = static_cast<uint32_t>(std::clamp<int64_t>(microseconds, 0, UINT32_MAX));
  __ulock_wait(compare_and_wait | no_errno, address_of(word), value, most);
}

void wake(const std::atomic<uint32_t>& word, int32_t count) {
  for (int32_t woken = 0; woken < count; ++woken) {
    if (__ulock_wake(compare_and_wait | no_errno, address_of(word), 0) == -ENOENT) return;
  }
}

// ---- Threads

int64_t thread_local_bytes() { return 0; }

// The nice value is the process's, and a new thread has an ordinary priority.
void take_on_ways_of_process() {}

int32_t current_cpu() { return -1; }

void keep_off(pthread_t, int32_t) {}

}  // namespace gather::core
