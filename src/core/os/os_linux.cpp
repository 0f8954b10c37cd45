#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/os/os.hpp"
#include "core/os/os_parts.hpp"

namespace gather::core {

// ---- CPUs and memory

namespace {

// The process's number is its main thread's as well. Not above 0: nobody knows.
int32_t affinity_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(getpid(), sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int32_t>(sysconf(_SC_NPROCESSORS_ONLN));  // more CPUs than the mask holds
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
  return static_cast<int32_t>(std::clamp((quota - 1) / period + 1, 1LL, 1LL << 20));
}

constexpr size_t path_capacity = 1024;

// A length that snprintf has no number for is negative, and as a size larger than any buffer.
bool read_file_of(const char* directory, const char* name, char* text, size_t capacity) {
  char path[path_capacity + 32];
  const int length = std::snprintf(path, sizeof path, "%s/%s", directory, name);
  return static_cast<size_t>(length) < sizeof path && read_text(path, text, capacity);
}

// The quota of one cgroup; 0: none. Version 2 has both numbers in one file, version 1 in two.
int32_t directory_cpus(const char* directory) {
  char text[64], period[64];
  long long quota_us = 0, period_us = 0;
  if (read_file_of(directory, "cpu.max", text, sizeof text)) {
    return std::sscanf(text, "%lld %lld", &quota_us, &period_us) == 2 ? quota_cpus(quota_us, period_us) : 0;
  }
  if (read_file_of(directory, "cpu.cfs_quota_us", text, sizeof text) &&
      read_file_of(directory, "cpu.cfs_period_us", period, sizeof period)) {
    return quota_cpus(std::atoll(text), std::atoll(period));
  }
  return 0;
}

int32_t fewer(int32_t a, int32_t b) { return a == 0 || (b > 0 && b < a) ? b : a; }

// The smallest quota from the cgroup `path` below `mount` up to the mount itself: a container sees its own cgroup
// there, whatever its path is called.
int32_t branch_cpus(const char* mount, const char* path) {
  char directory[path_capacity];
  const int length = std::snprintf(directory, sizeof directory, "%s%s", mount, path);
  if (static_cast<size_t>(length) >= sizeof directory) return directory_cpus(mount);
  const size_t root = std::strlen(mount);
  int32_t cpus = 0;
  for (;;) {
    cpus = fewer(cpus, directory_cpus(directory));
    char* slash = std::strrchr(directory, '/');
    if (!slash || slash < directory + root) return cpus;
    *slash = '\0';
  }
}

bool is_listed(const char* controllers, const char* name) {
  const size_t length = std::strlen(name);
  for (const char* at = controllers; (at = std::strstr(at, name)) != nullptr; at += length) {
    const bool begins = at == controllers || at[-1] == ',';
    if (begins && (at[length] == '\0' || at[length] == ',')) return true;
  }
  return false;
}

// A line "number:controllers:path": version 2 names no controllers, version 1 is mounted by them.
int32_t line_cpus(char* line, const char* mount) {
  char* controllers = std::strchr(line, ':');
  char* path = controllers ? std::strchr(controllers + 1, ':') : nullptr;
  if (!path) return 0;
  *controllers++ = *path++ = '\0';
  if (*controllers == '\0') return branch_cpus(mount, path);
  if (!is_listed(controllers, "cpu")) return 0;
  char below[path_capacity];
  const int length = std::snprintf(below, sizeof below, "%s/cpu", mount);
  return static_cast<size_t>(length) < sizeof below ? branch_cpus(below, path) : 0;
}

}  // namespace

int32_t cgroup_cpus(const char* membership, const char* mount) {
  char text[4096];
  if (!read_text(membership, text, sizeof text)) return 0;
  int32_t fewest = 0;
  char* rest = nullptr;
  for (char* line = strtok_r(text, "\n", &rest); line; line = strtok_r(nullptr, "\n", &rest)) {
    fewest = fewer(fewest, line_cpus(line, mount));
  }
  return fewest;
}

int32_t count_cpus() {
  const int32_t allowed = std::max(affinity_cpus(), 1);
  return fewer(allowed, cgroup_cpus("/proc/self/cgroup", "/sys/fs/cgroup"));
}

void advise_huge_pages(void* data, int64_t bytes) {
  constexpr int64_t huge_page = int64_t{2} << 20, worth_it = 2 * huge_page;
  if (bytes < worth_it) return;
  const uintptr_t first = (reinterpret_cast<uintptr_t>(data) + huge_page - 1) / huge_page * huge_page;
  const uintptr_t last = (reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(bytes)) / huge_page * huge_page;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

// ---- Waiting

void sleep_while(const std::atomic<uint32_t>& word, uint32_t value, int64_t microseconds) {
  timespec most;
  most.tv_sec = microseconds / 1000000;
  most.tv_nsec = microseconds % 1000000 * 1000;
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, microseconds < 0 ? nullptr : &most, nullptr, 0);
}

void wake(const std::atomic<uint32_t>& word, int32_t count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

// ---- Threads

// glibc puts it on the stack that a thread is given. All modules' is more than what is there.
int64_t thread_local_bytes() {
  size_t bytes = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* module, size_t, void* sum) {
        for (int32_t i = 0; i < module->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = module->dlpi_phdr[i];
          if (header.p_type == PT_TLS) *static_cast<size_t*>(sum) += header.p_memsz + header.p_align;
        }
        return 0;
      },
      &bytes);
  return static_cast<int64_t>(bytes);
}

// Wishes all of them: a process may lack the right.
void take_on_ways_of_process() {
  const pid_t process = getpid();
  const sched_param none{};
  const int policy = sched_getscheduler(process);
  pthread_setschedparam(pthread_self(), policy == SCHED_BATCH || policy == SCHED_IDLE ? policy : SCHED_OTHER, &none);
  const auto self = static_cast<id_t>(syscall(SYS_gettid));
  setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, static_cast<id_t>(process)));
}

int32_t current_cpu() { return sched_getcpu(); }

void keep_off(pthread_t thread, int32_t cpu) {
  cpu_set_t set;
  if (sched_getaffinity(getpid(), sizeof set, &set) != 0) return;
  if (CPU_COUNT(&set) > 1) CPU_CLR(static_cast<size_t>(cpu), &set);  // nothing where a set has no such CPU
  pthread_setaffinity_np(thread, sizeof set, &set);
}

}  // namespace gather::core
