#include "cuda/fork.hpp"

#include <atomic>

#include "core/os/os.hpp"

namespace gather::cuda {
namespace {

std::atomic<bool> watched{false};
std::atomic<bool> forked{false};

void note_child() {
  if (watched.load(std::memory_order_relaxed)) forked.store(true, std::memory_order_relaxed);
}

__attribute__((constructor)) void watch_from_loading_on() {
  core::reset_in_children(core::ForkOrder::device, note_child);
}

}  // namespace

void watch_forks() { watched.store(true, std::memory_order_relaxed); }

bool is_forked() { return forked.load(std::memory_order_relaxed); }

}  // namespace gather::cuda
