#pragma once

#include <cstdint>

static_assert(sizeof(void*) == 8, "libgather is a 64-bit library; only its header compiles everywhere");

// Arithmetic on sizes.
namespace gather::core {

// Each returns false if the result does not fit int64.
inline bool multiply(int64_t a, int64_t b, int64_t* out) { return !__builtin_mul_overflow(a, b, out); }
inline bool add(int64_t a, int64_t b, int64_t* out) { return !__builtin_add_overflow(a, b, out); }

inline uint64_t magnitude(int64_t number) {
  const auto bits = static_cast<uint64_t>(number);
  return number < 0 ? 0 - bits : bits;
}

}  // namespace gather::core
