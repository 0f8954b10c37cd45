#pragma once

#include <cstdint>

#include "cuda/aligned_rows.hpp"

namespace gather::cuda {

// The largest power of two, at most 16, that divides all noted addresses, sizes and strides.
class Alignment {
 public:
  void note(int64_t bytes) { bits_ |= static_cast<uint64_t>(bytes); }
  void note(const void* address) { bits_ |= reinterpret_cast<uintptr_t>(address); }
  // Notes a stride that is used if there are several steps.
  void note(int64_t extent, int64_t stride) { note(extent > 1 ? stride : 0); }
  int64_t value() const { return static_cast<int64_t>(bits_ & (~bits_ + 1)); }

 private:
  uint64_t bits_ = vector_bytes;
};

}  // namespace gather::cuda
