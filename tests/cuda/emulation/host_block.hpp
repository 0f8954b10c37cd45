#pragma once

#include <cstdint>
#include <memory>

#include "cuda/bodies.hpp"

namespace emulation {

// A device with a small cache. Few blocks are resident, so calls of some thousand rows need several waves of blocks.
inline gather::cuda::Capacity capacity() {
  gather::cuda::Capacity result{1 << 16, false, {}, {}};
  uint8_t kernel = 0;
  for (int family = 0; family < gather::cuda::families; ++family) {
    for (uint8_t& each : result.copying[family]) each = static_cast<uint8_t>(1 + kernel++ % 3);
    result.validating[family] = static_cast<uint8_t>(1 + kernel++ % 3);
  }
  return result;
}

// A block of threads on the host. It runs one thread after the other, from barrier to barrier.
class HostBlock {
 public:
  HostBlock(uint32_t index, uint32_t count, uint32_t threads) : index_(index), count_(count), threads_(threads) {}

  uint32_t index() const { return index_; }
  uint32_t count() const { return count_; }
  uint32_t threads() const { return threads_; }

  template <class F>
  bool any(F&& f) {
    bool result = false;
    for (uint32_t thread = 0; thread < threads_; ++thread) result |= f(thread);
    return result;
  }

  template <class F>
  bool finds(F&& f) {
    for (uint32_t thread = 0; thread < threads_; ++thread) {
      const gather::cuda::Finding other = f(thread);
      if (static_cast<uint64_t>(other.position) < static_cast<uint64_t>(found_.position)) found_ = other;
    }
    return found_.position >= 0;
  }
  const gather::cuda::Finding& found() const { return found_; }

  // In both orders, so that a result that depends on the order differs.
  template <class F>
  void each(F&& f) {
    const bool is_reverse = (index_ + interval_++) % 2 == 1;
    for (uint32_t i = 0; i < threads_; ++i) f(is_reverse ? threads_ - 1 - i : i);
  }

  template <class F>
  void in_turn(F&& f) {
    each(f);
  }

  // On the heap, because some tests run blocks on small stacks.
  char* stage() {
    if (!stage_) stage_ = std::make_unique<Stage>();
    return stage_->memory;
  }

  template <class F>
  void once(F&& f) {
    f();
  }

  // Grids run one after the other.
  void lets_next_begin() {}
  void waits_for_previous() {}

 private:
  uint32_t index_, count_, threads_, interval_ = 0;
  gather::cuda::Finding found_{-1, 0, 0};
  struct Stage {
    alignas(16) char memory[gather::cuda::stage_bytes];
  };
  std::unique_ptr<Stage> stage_;
};

}  // namespace emulation
