#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

// Numbers for addresses at steps of one or several strides. All addresses differ by multiples of the strides' greatest
// common divisor, so they have consecutive small numbers even if memory is not dense.
namespace gather::cuda {

class Numbering {
 public:
  // Adds the addresses that `extent` steps of a stride lead to.
  void add(int64_t extent, int64_t stride) {
    if (extent <= 1 || stride == 0) return;
    step_ = std::gcd(step_, stride);
    (stride < 0 ? low_ : high_) += stride * (extent - 1);
  }
  // The distance of two addresses with consecutive numbers.
  int64_t step() const { return step_ ? step_ : 1; }
  // The offset of the lowest address, and its number if the address with offset 0 has the number 0.
  int64_t low() const { return low_; }
  int64_t first() const { return low_ / step(); }
  int64_t count() const { return (high_ - low_) / step() + 1; }

 private:
  int64_t step_ = 0, low_ = 0, high_ = 0;
};

}  // namespace gather::cuda
