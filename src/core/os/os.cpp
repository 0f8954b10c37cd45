#include "core/os/os.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/random.h>
#endif

#include <initializer_list>

#include "core/os/os_parts.hpp"

namespace gather::core {

// ---- CPUs and memory

namespace {

// A clock that is read without a system call. It may be some milliseconds late.
#if defined(__APPLE__)
constexpr clockid_t coarse_clock = CLOCK_MONOTONIC_RAW_APPROX;
#else
constexpr clockid_t coarse_clock = CLOCK_MONOTONIC_COARSE;
#endif

int64_t now_in_milliseconds() {
  timespec now;
  clock_gettime(coarse_clock, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

int32_t count_uncancelled() {
  const Uncancelled uncancelled;
  return count_cpus();
}

std::atomic<int32_t> cpu_count{0};
std::atomic<int64_t> counted_at{0};  // in milliseconds

}  // namespace

int32_t available_cpus() {
  const int64_t now = now_in_milliseconds();
  int32_t known = cpu_count.load(std::memory_order_relaxed);
  if (known == 0 || now - counted_at.load(std::memory_order_relaxed) >= 1000) {
    counted_at.store(now, std::memory_order_relaxed);
    known = count_uncancelled();
    cpu_count.store(known, std::memory_order_relaxed);
  }
  return known;
}

void* map_pages(size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void unmap_pages(void* memory, size_t bytes) noexcept {
  if (memory) munmap(memory, bytes);
}

void advise_unused(void* memory, size_t bytes) noexcept { madvise(memory, bytes, MADV_DONTNEED); }

namespace {

int64_t now_in_nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

}  // namespace

// A sandbox may forbid the system call. The time then differs between loads, and the address between copies.
uint64_t random_bits() {
  constexpr uint64_t multiplier = 0x9e3779b97f4a7c15u;
  uint64_t bits;
  if (getentropy(&bits, sizeof bits) == 0) return bits;
  bits = static_cast<uint64_t>(now_in_nanoseconds()) + reinterpret_cast<uintptr_t>(&cpu_count);
  bits *= multiplier;
  return bits ^ bits >> 32;
}

// ---- Waiting

namespace {

// Lets the other hardware thread of the core run for a moment.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

bool spin_while(const std::atomic<uint32_t>& word, uint32_t value) {
  constexpr int64_t limit = 20000;  // nanoseconds
  const int64_t end = now_in_nanoseconds() + limit;
  while (now_in_nanoseconds() < end) {
    for (int32_t i = 0; i < 10; ++i) {
      if (word.load(std::memory_order_relaxed) != value) return true;
      relax();
    }
  }
  return false;
}

void nap() {
  const std::atomic<uint32_t> never_woken{0};
  sleep_while(never_woken, 0, 50);
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
std::atomic<pid_t> reset_process{0};  // the process in which the resets have run

void run_resets() {
  reset_process.store(getpid(), std::memory_order_relaxed);
  cpu_count.store(0, std::memory_order_relaxed);
  for (const std::atomic<Reset>& each : resets) {
    if (const Reset reset = each.load(std::memory_order_relaxed)) reset();
  }
}

}  // namespace

void notice_fork() {
  if (reset_process.load(std::memory_order_relaxed) != getpid()) run_resets();
}

void reset_in_children(ForkOrder order, void (*reset)()) {
  resets[static_cast<size_t>(order)].store(reset, std::memory_order_relaxed);
  pid_t unset = 0;
  if (reset_process.compare_exchange_strong(unset, getpid())) pthread_atfork(nullptr, nullptr, notice_fork);
}

// ---- Threads

namespace {

using Body = void* (*)(void*);

void* begin(void* body) {
  apply_process_scheduling();
  return reinterpret_cast<Body>(body)(nullptr);
}

// Returns the signals that threads of the library block.
sigset_t blocked_signals() {
  sigset_t set;
  sigfillset(&set);
  // An instruction of the thread raises these. If these signals were blocked, they would end even a process that has a
  // handler for them.
  for (int each : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&set, each);
  return set;
}

}  // namespace

bool start_thread(pthread_t* thread, int64_t stack, void* (*body)(void*)) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, static_cast<size_t>(stack + thread_local_bytes()));
  const sigset_t blocked = blocked_signals();
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  const bool started = pthread_create(thread, &attributes, begin, reinterpret_cast<void*>(body)) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

void join_thread(pthread_t thread) {
  const Uncancelled uncancelled;
  pthread_join(thread, nullptr);
}

}  // namespace gather::core
