#pragma once

#include "cpu/tiers/vectors.hpp"

namespace gather::cpu {
namespace {

// Computes with float32 numbers by operations that every processor has.
struct SoftFloats {
  // The product is exact in float64. The sum is rounded to odd: a sum that is not exact gets an odd last bit. So the
  // second rounding gives the float32 number that is nearest to the exact sum.
  static GATHER_INLINE float multiply_add(float w, float v, float sum) {
    const double a = double{w} * double{v}, b = sum, total = a + b;
    const double part = total - a, error = (a - (total - part)) + (b - part);
    int64_t bits = same_bits<int64_t>(total);
    if ((error < 0 || error > 0) && (bits & 1) == 0) bits += (error > 0) == (total > 0) ? 1 : -1;
    return static_cast<float>(same_bits<double>(bits));
  }
  template <class V>
  static GATHER_INLINE V multiply_add(V w, V v, V sum) {
    for (uint32_t i = 0; i < sizeof(V) / sizeof(float); ++i) sum[i] = multiply_add(w[i], v[i], sum[i]);
    return sum;
  }
  template <class V>
  static GATHER_INLINE V larger(V v, V than) {
    return v > than ? v : than;
  }
  template <class V>
  static GATHER_INLINE V smaller(V v, V than) {
    return v < than ? v : than;
  }
  template <class V>
  static GATHER_INLINE auto either_nan(V a, V b) {
    return (a != a) | (b != b);
  }
};

}  // namespace
}  // namespace gather::cpu
