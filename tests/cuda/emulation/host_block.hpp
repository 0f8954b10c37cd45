#pragma once

#include <cstdint>

#include "cuda/bodies.hpp"

namespace emulation {

// A device with a small cache. The number of resident blocks differs between all kernels.
inline gather::cuda::Capacity capacity() {
  gather::cuda::Capacity result{1 << 16, false, {}, {}};
  uint8_t blocks = 1;
  for (int family = 0; family < gather::cuda::families; ++family) {
    for (uint8_t& each : result.copying[family]) each = blocks++;
    result.validating[family] = blocks++;
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
  gather::cuda::Finding smallest(F&& f) {
    gather::cuda::Finding best{-1, 0, 0};
    for (uint32_t thread = 0; thread < threads_; ++thread) {
      const gather::cuda::Finding other = f(thread);
      if (static_cast<uint64_t>(other.position) < static_cast<uint64_t>(best.position)) best = other;
    }
    return best;
  }

  template <class F>
  void once(F&& f) {
    f();
  }

  // Grids run one after the other.
  void lets_next_begin() {}
  void waits_for_previous() {}

  bool finishes(uint32_t* shares) {
    const uint32_t share = gather::cuda::share_of(index_, count_);
    return gather::cuda::arrive(shares, share) + share == 0;
  }

 private:
  uint32_t index_, count_, threads_;
};

}  // namespace emulation
