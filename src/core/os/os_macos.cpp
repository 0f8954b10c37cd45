#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/os/os.hpp"
#include "core/os/os_parts.hpp"

// The functions of the kernel to wait on a word. No public header declares them. The C++ library of the system uses
// them.
// NOLINTBEGIN(bugprone-reserved-identifier): the names are those of the system
extern "C" int __ulock_wait(uint32_t operation, void* address, uint64_t value, uint32_t microseconds);
extern "C" int __ulock_wake(uint32_t operation, void* address, uint64_t value);
// NOLINTEND(bugprone-reserved-identifier)

namespace gather::core {

// ---- CPUs and memory

// macOS has no cgroups.
int32_t cgroup_cpus(const char*, const char*) { return 0; }

// A process has no affinity on macOS.
int32_t count_cpus() {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int32_t>(online) : 1;
}

// macOS has no such request.
void advise_huge_pages(void*, int64_t) {}

// ---- Waiting

namespace {

constexpr uint32_t compare_and_wait = 1, no_errno = 0x1000000;  // UL_COMPARE_AND_WAIT, ULF_NO_ERRNO

void* address_of(const std::atomic<uint32_t>& word) { return const_cast<std::atomic<uint32_t>*>(&word); }

}  // namespace

void sleep_while(const std::atomic<uint32_t>& word, uint32_t value, int64_t microseconds) {
  if (microseconds == 0) return;  // For the kernel, 0 means no limit.
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

// On macOS the nice value belongs to the process, and a new thread has no real-time priority.
void apply_process_scheduling() {}

int32_t current_cpu() { return -1; }

void keep_off(Thread, int32_t) {}

}  // namespace gather::core
