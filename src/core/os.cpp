#include "core/os.hpp"

#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gather::core {

// ---- CPUs and memory

namespace {

// The process's number is its main thread's as well.
int32_t affinity_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(getpid(), sizeof set, &set) == 0) return CPU_COUNT(&set);
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
  return static_cast<int32_t>(std::clamp((quota - 1) / period + 1, 1LL, 1LL << 20));
}

constexpr size_t path_capacity = 1024;

bool read_file_of(const char* directory, const char* name, char* text, size_t capacity) {
  char path[path_capacity + 32];
  const int length = std::snprintf(path, sizeof path, "%s/%s", directory, name);
  return length > 0 && static_cast<size_t>(length) < sizeof path && read_text(path, text, capacity);
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
  if (length <= 0 || static_cast<size_t>(length) >= sizeof directory) return directory_cpus(mount);
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
  return length > 0 && static_cast<size_t>(length) < sizeof below ? branch_cpus(below, path) : 0;
}

int32_t count_cpus() {
  const Uncancelled uncancelled;
  const int32_t allowed = std::max(affinity_cpus(), 1);
  return fewer(allowed, cgroup_cpus("/proc/self/cgroup", "/sys/fs/cgroup"));
}

int64_t now_in_milliseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

std::atomic<int32_t> counted{0};
std::atomic<int64_t> counted_at{0};

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

int32_t available_cpus() {
  const int64_t now = now_in_milliseconds();
  int32_t known = counted.load(std::memory_order_relaxed);
  if (known == 0 || now - counted_at.load(std::memory_order_relaxed) >= 1000) {
    counted_at.store(now, std::memory_order_relaxed);
    known = count_cpus();
    counted.store(known, std::memory_order_relaxed);
  }
  return known;
}

void advise_huge_pages(void* data, int64_t bytes) {
  constexpr int64_t huge_page = int64_t{2} << 20, worth_it = 2 * huge_page;
  if (bytes < worth_it) return;
  const uintptr_t first = (reinterpret_cast<uintptr_t>(data) + huge_page - 1) / huge_page * huge_page;
  const uintptr_t last = (reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(bytes)) / huge_page * huge_page;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

void* map_pages(size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void unmap_pages(void* memory, size_t bytes) noexcept {
  if (memory) munmap(memory, bytes);
}

void advise_unused(void* memory, size_t bytes) noexcept { madvise(memory, bytes, MADV_DONTNEED); }

// ---- Waiting

namespace {

int64_t now_in_nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

// Leaves the core to its other thread for a moment.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void sleep_while(const std::atomic<uint32_t>& word, uint32_t value, int64_t microseconds) {
  timespec most;
  most.tv_sec = microseconds / 1000000;
  most.tv_nsec = microseconds % 1000000 * 1000;
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, microseconds < 0 ? nullptr : &most, nullptr, 0);
}

bool spin_while(const std::atomic<uint32_t>& word, uint32_t value) {
  constexpr int64_t most = 20000;
  const int64_t end = now_in_nanoseconds() + most;
  while (now_in_nanoseconds() < end) {
    for (int32_t i = 0; i < 10; ++i) {
      if (word.load(std::memory_order_relaxed) != value) return true;
      relax();
    }
  }
  return false;
}

void wake(const std::atomic<uint32_t>& word, int32_t count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

void nap() {
  const std::atomic<uint32_t> nobody{0};
  sleep_while(nobody, 0, 50);
}

void Lock::wait() {
  constexpr int32_t naps_after = 100;
  for (int32_t tries = 0; holder_.load(std::memory_order_relaxed) != 0 || !try_lock(); ++tries) {
    if (tries < naps_after) continue;
    notice_fork();
    nap();
  }
}

bool Lock::outlive_holder() {
  const uintptr_t holder = holder_.load(std::memory_order_relaxed);
  if (holder == 0 || holder == self()) return false;
  unlock();
  return true;
}

// ---- Forks

namespace {

using Reset = void (*)();

constexpr size_t reset_count = static_cast<size_t>(ForkOrder::count);
std::atomic<Reset> resets[reset_count] = {};
std::atomic<pid_t> home{0};  // the process in which the resets have been run

void run_resets() {
  home.store(getpid(), std::memory_order_relaxed);
  counted.store(0, std::memory_order_relaxed);
  for (const std::atomic<Reset>& each : resets) {
    if (const Reset reset = each.load(std::memory_order_relaxed)) reset();
  }
}

}  // namespace

void notice_fork() {
  if (home.load(std::memory_order_relaxed) != getpid()) run_resets();
}

void reset_in_children(ForkOrder order, void (*reset)()) {
  resets[static_cast<size_t>(order)].store(reset, std::memory_order_relaxed);
  pid_t nowhere = 0;
  if (home.compare_exchange_strong(nowhere, getpid())) pthread_atfork(nullptr, nullptr, notice_fork);
}

// ---- Threads

namespace {

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

using Body = void* (*)(void*);

void* begin(void* body) {
  take_on_ways_of_process();
  return reinterpret_cast<Body>(body)(nullptr);
}

sigset_t signals_of_the_program() {
  sigset_t set;
  sigfillset(&set);
  // Raised by an instruction of the thread itself: blocked, they would end the process even where it serves them.
  for (int each : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&set, each);
  return set;
}

}  // namespace

bool start_thread(pthread_t* thread, int64_t stack, void* (*body)(void*)) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, static_cast<size_t>(stack + thread_local_bytes()));
  const sigset_t blocked = signals_of_the_program();
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  const bool started = pthread_create(thread, &attributes, begin, reinterpret_cast<void*>(body)) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

int32_t current_cpu() { return sched_getcpu(); }

void keep_off(pthread_t thread, int32_t cpu) {
  cpu_set_t set;
  if (sched_getaffinity(getpid(), sizeof set, &set) != 0) return;
  if (cpu >= 0 && cpu < CPU_SETSIZE && CPU_COUNT(&set) > 1) CPU_CLR(static_cast<size_t>(cpu), &set);
  if (CPU_COUNT(&set) > 0) pthread_setaffinity_np(thread, sizeof set, &set);
}

void join_thread(pthread_t thread) {
  const Uncancelled uncancelled;
  pthread_join(thread, nullptr);
}

}  // namespace gather::core
