#pragma once

#include <sched.h>

#include <atomic>

namespace gather::core {

// A lock for a handful of instructions: one atomic operation to take, a plain store to give back. Has no constructor or
// destructor to run, so it may be static.
class SpinLock {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace gather::core
