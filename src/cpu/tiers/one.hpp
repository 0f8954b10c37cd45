#pragma once

#include "cpu/tiers/tier.hpp"

namespace gather::cpu {
namespace {

// One number, in the form of Lanes: what the portable tier counts in, and what is left over at the end in the others.
struct One {
  static constexpr int32_t count = 1;
  using V = int64_t;
  using D = double;

  // A volatile read cannot be repeated behind our back: what has been judged is what is used. uint64 as its bit pattern.
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
  // Of a and then b, each two that lie beside one another.
  static GATHER_INLINE V add_pairs(V a, V b) { return a + b; }
  static GATHER_INLINE bool is_any_negative(V v) { return v < 0; }
};

}  // namespace
}  // namespace gather::cpu
