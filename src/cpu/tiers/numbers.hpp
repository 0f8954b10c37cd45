#pragma once

#include <cstdint>

#include "cpu/tiers/vectors.hpp"

// The arithmetic of each kind of element. A kind has a type in memory (Stored), a type for arithmetic (Value), and
// conversions between them. The conversion back to Stored rounds. All functions process n elements at once: a vector,
// or a single number if n is 1. Part of body.hpp.
namespace gather::cpu {
namespace {

// An element that is computed in its own type. Integer arithmetic wraps around.
template <class T>
struct Plain {
  using Stored = T;
  using Value = T;

  template <int64_t n>
  static GATHER_INLINE Numbers<T, n> load(const char* at) {
    return load_numbers<T, n>(at);
  }
  template <int64_t n>
  static GATHER_INLINE void store(char* at, Numbers<T, n> values) {
    store_numbers(at, values);
  }
};

// float16, computed in float32. float32 has more than twice the digits, so the second rounding does not change the
// result of one sum or product.
struct Half {
  using Stored = uint16_t;
  using Value = float;

  template <int64_t n>
  static GATHER_INLINE Numbers<float, n> load(const char* at) {
    return Halves::template load<n>(at);
  }
  template <int64_t n>
  static GATHER_INLINE void store(char* at, Numbers<float, n> values) {
    store_numbers(at, Halves::round(values));
  }
};

struct BrainHalf {
  using Stored = uint16_t;
  using Value = float;

  template <int64_t n>
  static GATHER_INLINE Numbers<float, n> load(const char* at) {
    return same_bits<Numbers<float, n>>(convert_numbers<int32_t, n>(load_numbers<uint16_t, n>(at)) << 16);
  }
  template <int64_t n>
  static GATHER_INLINE void store(char* at, Numbers<float, n> values) {
    store_numbers(at, convert_numbers<uint16_t, n>(round<n>(values) >> 16));
  }
  // Rounds to nearest, ties to even. A bfloat16 number is the high half of the result.
  template <int64_t n>
  static GATHER_INLINE Numbers<int32_t, n> round(Numbers<float, n> values) {
    using Bits = Numbers<int32_t, n>;
    const Bits bits = same_bits<Bits>(values);
    return values != values ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
  }
};

}  // namespace
}  // namespace gather::cpu
