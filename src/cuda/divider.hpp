#pragma once

#include <cstdint>

#include "cuda/shared.hpp"

namespace gather::cuda {

// Division by a number that is known on the host. It uses a multiplication and a shift, because a division would take
// longer than the copy of a row.
struct Divider {
  uint32_t multiplier;
  uint32_t shift;
};

// The largest dividend, and the largest divisor.
constexpr int64_t largest_narrow = INT32_MAX;

// Precondition: 1 <= divisor <= largest_narrow. With shift = ceil(log2 d), the quotient of n is (umulhi(n, multiplier)
// + n) >> shift. The sum stays below 2^32, because n is at most largest_narrow.
inline Divider make_divider(int64_t divisor) {
  Divider result{0, 0};
  while ((int64_t{1} << result.shift) < divisor) ++result.shift;
  const uint64_t power = uint64_t{1} << result.shift;
  const uint64_t d = static_cast<uint64_t>(divisor);
  result.multiplier = static_cast<uint32_t>(((power - d) << 32) / d + 1);
  return result;
}

GATHER_SHARED uint32_t divide(uint32_t n, const Divider& by) {
#ifdef __CUDA_ARCH__
  return (__umulhi(n, by.multiplier) + n) >> by.shift;
#else
  return (static_cast<uint32_t>((uint64_t{n} * by.multiplier) >> 32) + n) >> by.shift;
#endif
}

}  // namespace gather::cuda
