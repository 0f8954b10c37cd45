#include "core/os/os.hpp"

#include "core/os/os_parts.hpp"

namespace gather::core {

// ---- CPUs and memory

namespace {

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

void count_again() { cpu_count.store(0, std::memory_order_relaxed); }

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

}  // namespace gather::core
