#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/random.h>
#else
#include <sys/syscall.h>
#endif

#include <initializer_list>

#include "core/os/os.hpp"
#include "core/os/os_parts.hpp"

namespace gather::core {

// ---- Time and memory

namespace {

// A clock that is read without a system call. It may be some milliseconds late.
#if defined(__APPLE__)
constexpr clockid_t coarse_clock = CLOCK_MONOTONIC_RAW_APPROX;
#else
constexpr clockid_t coarse_clock = CLOCK_MONOTONIC_COARSE;
#endif

// Returns true if all bits are random.
bool fill_random(uint64_t* bits) {
#if defined(__APPLE__)
  return getentropy(bits, sizeof *bits) == 0;
#else  // The glibc that wheels support has no function for it.
  return syscall(SYS_getrandom, bits, sizeof *bits, 0) == long{sizeof *bits};
#endif
}

}  // namespace

int64_t now_in_milliseconds() {
  timespec now;
  clock_gettime(coarse_clock, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

int64_t now_in_nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

void* map_pages(size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void unmap_pages(void* memory, size_t bytes) noexcept {
  if (memory) munmap(memory, bytes);
}

void advise_unused(void* memory, size_t bytes) noexcept { madvise(memory, bytes, MADV_DONTNEED); }

// A sandbox may forbid the system call. The time then differs between loads, and the address between copies.
uint64_t random_bits() {
  constexpr uint64_t multiplier = 0x9e3779b97f4a7c15u;
  uint64_t bits = 0;  // The memory sanitizer does not see what the system call writes.
  if (fill_random(&bits)) return bits;
  bits = static_cast<uint64_t>(now_in_nanoseconds()) + reinterpret_cast<uintptr_t>(&random_bits);
  bits *= multiplier;
  return bits ^ bits >> 32;
}

// ---- Locks

void Mutex::lock() { pthread_mutex_lock(&mutex_); }
void Mutex::unlock() { pthread_mutex_unlock(&mutex_); }

Uncancelled::Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
Uncancelled::~Uncancelled() { pthread_setcancelstate(before_, nullptr); }

// ---- Forks

int64_t process_id() { return getpid(); }

namespace {

using Reset = void (*)();

constexpr size_t reset_count = static_cast<size_t>(ForkOrder::count);
std::atomic<Reset> resets[reset_count] = {};
std::atomic<pid_t> reset_process{0};  // the process in which the resets have run

void run_resets() {
  reset_process.store(getpid(), std::memory_order_relaxed);
  count_again();
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

bool start_thread(Thread* thread, int64_t stack, void* (*body)(void*)) {
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

void join_thread(Thread thread) {
  const Uncancelled uncancelled;
  pthread_join(thread, nullptr);
}

}  // namespace gather::core
