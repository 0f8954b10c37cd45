#pragma once

#include "cpu/tiers/tier.hpp"

namespace gather::cpu {
namespace {

// One number with the interface of Lanes. The portable tier uses it for all tuples, the other tiers for the tuples
// after the last full vector.
struct Scalar {
  static constexpr int32_t count = 1;
  using V = int64_t;
  using D = double;

  // Loads an index at any address; uint64 as its bit pattern. The compiler cannot repeat a volatile read, so the
  // validated value is the value that is used.
  template <class T>
  static GATHER_INLINE V load(const char* at) {
    struct __attribute__((packed, may_alias)) Unaligned {
      T value;
    };
    return static_cast<V>(reinterpret_cast<const volatile Unaligned*>(at)->value);
  }
  static GATHER_INLINE V values(const int64_t* at) { return *at; }
  static GATHER_INLINE void store(int64_t* at, V v) { *at = v; }
  static GATHER_INLINE V all(int64_t value) { return value; }
  static GATHER_INLINE V wrap(V v, V size) { return v + (v >> 63 & size); }
  static GATHER_INLINE V times(V a, V b) { return a * b; }
  static GATHER_INLINE V select(V v, V a, V b) { return v < 0 ? a : b; }
  static GATHER_INLINE V add_pairs(V a, V b) { return a + b; }
  static GATHER_INLINE bool is_any_negative(V v) { return v < 0; }
};

}  // namespace
}  // namespace gather::cpu
