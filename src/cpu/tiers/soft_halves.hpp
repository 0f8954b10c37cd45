#pragma once

#include "cpu/tiers/vectors.hpp"

namespace gather::cpu {
namespace {

// Converts float16 numbers by integer operations.
struct SoftHalves {
  template <int64_t n>
  static GATHER_INLINE Numbers<float, n> load(const char* at) {
    return widen(load_numbers<uint16_t, n>(at));
  }

  template <class Stored>
  static GATHER_INLINE auto widen(Stored stored) {
    constexpr int64_t n = sizeof(Stored) / sizeof(uint16_t);
    using Bits = Numbers<int32_t, n>;
    using Floats = Numbers<float, n>;
    const Bits bits = convert_numbers<int32_t, n>(stored), magnitude = bits & 0x7fff;
    // Subnormals are normalised by adding a bit and subtracting it. So flush-to-zero mode has no effect on them.
    const Floats small = same_bits<Floats>((magnitude << 13) + (113 << 23)) - 0x1p-14f;
    const Bits normal = (magnitude << 13) + (112 << 23), special = (magnitude << 13) + (224 << 23);
    const Bits large = magnitude < 0x7c00 ? normal : special;
    return same_bits<Floats>((magnitude < 0x400 ? same_bits<Bits>(small) : large) | (bits & 0x8000) << 16);
  }

  template <class Floats>
  static GATHER_INLINE auto round(Floats values) {
    constexpr int64_t n = sizeof(Floats) / sizeof(float);
    using Bits = Numbers<int32_t, n>;
    const Bits bits = same_bits<Bits>(values), magnitude = bits & 0x7fffffff;
    // The last bit of the sum has the value of the smallest float16 subnormal.
    const Bits subnormal = same_bits<Bits>(same_bits<Floats>(magnitude) + 0.5f) - same_bits<int32_t>(0.5f);
    const Bits normal = (magnitude - (112 << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    const Bits nan = 0x7e00 | (magnitude >> 13 & 0x3ff), infinity = Bits{} + 0x7c00;
    const Bits special = magnitude > 0x7f800000 ? nan : infinity;
    const Bits large = magnitude < 0x477ff000 ? normal : special;
    return convert_numbers<uint16_t, n>((magnitude < 113 << 23 ? subnormal : large) | (bits >> 16 & 0x8000));
  }
};

}  // namespace
}  // namespace gather::cpu
