#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

// Floating numbers in registers. Operations are those of IEEE 754 and round to nearest. Their NaN is that of the
// device.
namespace ptx {

struct Half {};  // A value is a float.

uint16_t round_to_half(float value);
float widen_half(uint16_t bits);

// Returns the number that has these bits.
template <class T>
auto number(uint64_t bits) {
  if constexpr (sizeof(T) == 1) {
    return widen_half(static_cast<uint16_t>(bits));
  } else {
    T value;
    std::memcpy(&value, &bits, sizeof value);  // The first bytes are the lowest ones.
    return value;
  }
}

inline uint32_t bits_of(float value) {
  if (std::isnan(value)) return 0x7fffffff;
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline uint64_t bits_of(double value) {
  if (std::isnan(value)) return 0xfff8000000000000;
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

template <class T>
using Bits = decltype(bits_of(T{}));

template <class T>
auto sum(uint64_t a, uint64_t b) {
  return bits_of(number<T>(a) + number<T>(b));
}
template <class T>
auto product(uint64_t a, uint64_t b) {
  return bits_of(number<T>(a) * number<T>(b));
}
template <class T>
auto fused(uint64_t a, uint64_t b, uint64_t c) {
  return bits_of(std::fma(number<T>(a), number<T>(b), number<T>(c)));
}
template <class T>
auto quotient(uint64_t a, uint64_t b) {
  return bits_of(number<T>(a) / number<T>(b));
}
template <class T>
auto root(uint64_t a) {
  return bits_of(std::sqrt(number<T>(a)));
}
// A device replaces subnormal numbers by zero in an atomic addition of float to global memory.
inline float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}
inline double flushed(double value) { return value; }

template <class T>
auto atomic_sum(uint64_t a, uint64_t b) {
  return bits_of(flushed(flushed(number<T>(a)) + flushed(number<T>(b))));
}

template <class T>
auto negative(uint64_t a) {
  return bits_of(-number<T>(a));
}

template <class T>
bool are_unordered(T a, T b) {
  return std::isnan(a) || std::isnan(b);
}

// Returns the bits of a number that is converted to the type T.
template <class T, class From>
auto converted(From value) {
  if constexpr (sizeof(T) == 1) {
    static_assert(sizeof value == 4, "a double or an integer would be rounded twice");
    return round_to_half(value);
  } else {
    return bits_of(static_cast<T>(value));
  }
}

}  // namespace ptx
