#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

// The arithmetic of each kind of element. A kind has a type in memory (Stored), a type for arithmetic (Value), and
// conversions between them. Sums and products are computed with Value. The conversion back to Stored rounds.
namespace gather::cpu {

template <class To, class From>
To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// An integer. Arithmetic wraps around.
template <class T>
struct Integer {
  using Stored = T;
  using Value = T;

  static Value load(Stored stored) { return stored; }
  static Stored store(Value value) { return value; }
  static Value add(Value a, Value b) { return static_cast<T>(wide(a) + wide(b)); }
  static Value mul(Value a, Value b) { return static_cast<T>(wide(a) * wide(b)); }
  static bool is_nan(Value) { return false; }

 private:
  using Wide =
      std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;  // unsigned, because int arithmetic must not overflow
  static Wide wide(T value) { return static_cast<Wide>(value); }
};

// A byte. Every byte except 0 is true. The written values are 0 and 1.
struct Boolean {
  using Stored = uint8_t;
  using Value = bool;

  static Value load(Stored stored) { return stored != 0; }
  static Stored store(Value value) { return value ? 1 : 0; }
  static Value add(Value a, Value b) { return a || b; }
  static Value mul(Value a, Value b) { return a && b; }
  static bool is_nan(Value) { return false; }
};

template <class T>
struct Floating {
  using Stored = T;
  using Value = T;

  static Value load(Stored stored) { return stored; }
  static Stored store(Value value) { return value; }
  static Value add(Value a, Value b) { return a + b; }
  static Value mul(Value a, Value b) { return a * b; }
  static bool is_nan(Value value) { return std::isnan(value); }
};

// float16, computed in float32. float32 has more than twice the digits, so the second rounding does not change the
// result of one sum or product.
struct Half : Floating<float> {
  using Stored = uint16_t;

  static float load(uint16_t memory) {
    const uint32_t magnitude = memory & 0x7fffu;
    const uint32_t sign = static_cast<uint32_t>(memory & 0x8000u) << 16;
    // Subnormals are normalised by adding a bit and subtracting it. So flush-to-zero mode has no effect on them.
    const float small = bits_as<float>((magnitude << 13) + (113u << 23)) - bits_as<float>(113u << 23);
    const uint32_t exponent = magnitude < 0x7c00 ? 112u << 23 : 224u << 23;
    const uint32_t large = (magnitude << 13) + exponent;
    return bits_as<float>((magnitude < 0x400 ? bits_as<uint32_t>(small) : large) | sign);
  }
  static uint16_t store(float value) {
    const uint32_t bits = bits_as<uint32_t>(value), magnitude = bits & 0x7fffffffu;
    const float small =
        bits_as<float>(magnitude) + 0.5f;  // its last bit has the value of the smallest float16 subnormal
    const uint32_t subnormal = bits_as<uint32_t>(small) - bits_as<uint32_t>(0.5f);
    const uint32_t normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u | (magnitude >> 13 & 0x3ffu) : 0x7c00u;
    const uint32_t rounded = magnitude < 113u << 23 ? subnormal : magnitude < 0x477ff000u ? normal : special;
    return static_cast<uint16_t>(rounded | (bits >> 16 & 0x8000u));
  }
};

struct BrainHalf : Floating<float> {
  using Stored = uint16_t;

  static float load(uint16_t memory) { return bits_as<float>(static_cast<uint32_t>(memory) << 16); }
  static uint16_t store(float value) {
    const uint32_t bits = bits_as<uint32_t>(value);
    const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return static_cast<uint16_t>(is_nan ? bits >> 16 | 0x40u : rounded);
  }
};

// A complex number. Each product is rounded before it is added, also on processors with fused multiply-add.
template <class T>
struct Complex {
  struct Stored {
    T real, imaginary;
  };
  using Value = Stored;

  static Value load(Stored stored) { return stored; }
  static Stored store(Value value) { return value; }
  static Value add(Value a, Value b) { return {a.real + b.real, a.imaginary + b.imaginary}; }
  static Value mul(Value a, Value b) {
    return {product(a.real, b.real) - product(a.imaginary, b.imaginary),
            product(a.real, b.imaginary) + product(a.imaginary, b.real)};
  }

 private:
  static T product(T a, T b) {
    T result = a * b;
    asm("" : "+m"(result));
    return result;
  }
};

}  // namespace gather::cpu
