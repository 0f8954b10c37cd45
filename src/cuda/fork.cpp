#include "cuda/fork.hpp"

#include <pthread.h>

#include <atomic>

namespace gather::cuda {
namespace {

std::atomic<bool> watched{false};
std::atomic<bool> forked{false};

void note_child() { forked.store(true, std::memory_order_relaxed); }

}  // namespace

void watch_forks() {
  if (watched.load(std::memory_order_relaxed) || watched.exchange(true)) return;
  pthread_atfork(nullptr, nullptr, note_child);
}

bool is_forked() { return forked.load(std::memory_order_relaxed); }

}  // namespace gather::cuda
