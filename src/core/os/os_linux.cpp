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

// Returns the number of CPUs in the affinity of the main thread, whose id is that of the process. Returns a number
// below 1 if it is unknown.
int32_t affinity_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(getpid(), sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int32_t>(sysconf(_SC_NPROCESSORS_ONLN));  // The system has more CPUs than cpu_set_t.
}

// Reads a small file without an allocation. Returns false if there is none.
bool read_text(const char* path, char* text, size_t capacity) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t length = read(file, text, capacity - 1);
  close(file);
  if (length <= 0) return false;
  text[length] = '\0';
  return true;
}

// Returns the number of CPUs that a quota allows, or 0 without a quota. Both numbers are in microseconds.
int32_t quota_cpus(long long quota, long long period) {
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<int32_t>(std::clamp((quota - 1) / period + 1, 1LL, 1LL << 20));
}

constexpr size_t path_capacity = 1024;

// snprintf returns a negative number on error. As a size_t, it is larger than any buffer.
bool read_file_of(const char* directory, const char* name, char* text, size_t capacity) {
  char path[path_capacity + 32];
  const int length = std::snprintf(path, sizeof path, "%s/%s", directory, name);
  return static_cast<size_t>(length) < sizeof path && read_text(path, text, capacity);
}

// Returns the number of CPUs that the quota of one cgroup allows, or 0. Version 2 of cgroups has quota and period in
// one file. Version 1 has them in two files.
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

// Returns the smaller number. 0 means no limit.
int32_t fewer(int32_t a, int32_t b) { return a == 0 || (b > 0 && b < a) ? b : a; }

// Returns the smallest quota of the cgroup `path` and its parents, up to `mount`. In a container, `mount` is the cgroup
// of the container for every `path`.
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

// Reads a line "number:controllers:path". In version 2 the controllers are empty. Version 1 has a mount for each
// controller.
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
  constexpr int64_t huge_page = int64_t{2} << 20, min_bytes = 2 * huge_page;
  if (bytes < min_bytes) return;
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

namespace {

int64_t local_bytes;

// The sum over all modules is an upper bound. Modules that are loaded later get their thread-local memory elsewhere,
// because glibc fixes the size when the process starts. The list of modules has a lock. A child process inherits it in
// the state in which another thread of the parent left it, so the list is read here and not when a thread starts.
__attribute__((constructor)) void measure_thread_local_memory() {
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
  local_bytes = static_cast<int64_t>(bytes);
}

}  // namespace

// glibc allocates thread-local memory on the stack of a thread.
int64_t thread_local_bytes() { return local_bytes; }

// The calls may fail because the process lacks the permission. Such a failure is ignored. The function sched_getscheduler
// of musl always fails, because the policy of Linux is that of a thread.
void apply_process_scheduling() {
  const pid_t process = getpid();
  const sched_param none{};
  const auto policy = static_cast<int>(syscall(SYS_sched_getscheduler, process));
  pthread_setschedparam(pthread_self(), policy == SCHED_BATCH || policy == SCHED_IDLE ? policy : SCHED_OTHER, &none);
  const auto self = static_cast<id_t>(syscall(SYS_gettid));
  setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, static_cast<id_t>(process)));
}

int32_t current_cpu() { return sched_getcpu(); }

void keep_off(Thread thread, int32_t cpu) {
  cpu_set_t set;
  if (sched_getaffinity(getpid(), sizeof set, &set) != 0) return;
  if (CPU_COUNT(&set) > 1) CPU_CLR(static_cast<size_t>(cpu), &set);  // No effect if cpu is outside of the set.
  pthread_setaffinity_np(thread, sizeof set, &set);
}

}  // namespace gather::core
