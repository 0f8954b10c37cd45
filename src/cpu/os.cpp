#include "cpu/os.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace gather::cpu {
namespace {

int32_t affinity_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  const long online = sysconf(_SC_NPROCESSORS_ONLN);  // more CPUs than the mask holds
  return online > 0 ? static_cast<int32_t>(online) : 1;
}

// Reads a small file without allocating; false if there is none.
bool read_text(const char* path, char* text, size_t capacity) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t length = read(file, text, capacity - 1);
  close(file);
  if (length <= 0) return false;
  text[length] = '\0';
  return true;
}

// CPUs that a quota of `quota` microseconds in each `period` pays for; 0: no quota.
int32_t quota_cpus(long long quota, long long period) {
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<int32_t>(std::clamp((quota + period - 1) / period, 1LL, 1LL << 20));
}

int32_t cgroup_cpus() {
  char text[64], period_text[64];
  long long quota = 0, period = 0;
  if (read_text("/sys/fs/cgroup/cpu.max", text, sizeof text)) {
    return std::sscanf(text, "%lld %lld", &quota, &period) == 2 ? quota_cpus(quota, period) : 0;
  }
  if (read_text("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", text, sizeof text) &&
      read_text("/sys/fs/cgroup/cpu/cpu.cfs_period_us", period_text, sizeof period_text)) {
    return quota_cpus(std::atoll(text), std::atoll(period_text));
  }
  return 0;
}

int32_t count_cpus() {
  const int32_t allowed = std::max(affinity_cpus(), 1);
  const int32_t paid = cgroup_cpus();
  return paid > 0 ? std::min(allowed, paid) : allowed;
}

std::atomic<int32_t> cpus{0};

}  // namespace

int32_t available_cpus() {
  int32_t known = cpus.load(std::memory_order_relaxed);
  if (known == 0) {
    known = count_cpus();
    cpus.store(known, std::memory_order_relaxed);
  }
  return known;
}

void advise_huge_pages(void* data, int64_t bytes) {
  constexpr int64_t huge_page = int64_t{2} << 20, worth_it = 4 * huge_page;
  if (bytes < worth_it) return;
  const uintptr_t first = (reinterpret_cast<uintptr_t>(data) + huge_page - 1) / huge_page * huge_page;
  const uintptr_t last = (reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(bytes)) / huge_page * huge_page;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace gather::cpu
