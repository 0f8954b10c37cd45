#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

// Elements as arithmetic sees them. Each kind has the form in which it lies in memory, the form in which it is counted, and
// the way from one to the other; sums and products are those of the counted form, rounded on the way back.
namespace gather::cpu {

template <class To, class From>
To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// Wraps around.
template <class T>
struct Integer {
  using Memory = T;
  using Counted = T;

  static Counted load(Memory memory) { return memory; }
  static Memory store(Counted value) { return value; }
  static Counted add(Counted a, Counted b) { return static_cast<T>(wide(a) + wide(b)); }
  static Counted mul(Counted a, Counted b) { return static_cast<T>(wide(a) * wide(b)); }
  static bool is_nan(Counted) { return false; }

 private:
  using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;  // what is narrower would be promoted to int
  static Wide wide(T value) { return static_cast<Wide>(value); }
};

// Any byte but 0 is true; what is written is 0 or 1.
struct Boolean {
  using Memory = uint8_t;
  using Counted = bool;

  static Counted load(Memory memory) { return memory != 0; }
  static Memory store(Counted value) { return value ? 1 : 0; }
  static Counted add(Counted a, Counted b) { return a || b; }
  static Counted mul(Counted a, Counted b) { return a && b; }
  static bool is_nan(Counted) { return false; }
};

template <class T>
struct Floating {
  using Memory = T;
  using Counted = T;

  static Counted load(Memory memory) { return memory; }
  static Memory store(Counted value) { return value; }
  static Counted add(Counted a, Counted b) { return a + b; }
  static Counted mul(Counted a, Counted b) { return a * b; }
  static bool is_nan(Counted value) { return std::isnan(value); }
};

// Counted in float32, which has more than twice the digits: a sum or product of two that is rounded to 32 and then to 16
// bits is the one that is rounded to 16 at once.
struct Half : Floating<float> {
  using Memory = uint16_t;

  static float load(uint16_t memory) {
    const uint32_t magnitude = memory & 0x7fffu;
    const uint32_t sign = static_cast<uint32_t>(memory & 0x8000u) << 16;
    // Subnormal numbers, made normal by a bit that is then subtracted: no flag of the processor can flush them.
    const float small = bits_as<float>((magnitude << 13) + (113u << 23)) - bits_as<float>(113u << 23);
    const uint32_t exponent = magnitude < 0x7c00 ? 112u << 23 : 224u << 23;
    const uint32_t large = (magnitude << 13) + exponent;
    return bits_as<float>((magnitude < 0x400 ? bits_as<uint32_t>(small) : large) | sign);
  }
  static uint16_t store(float value) {
    const uint32_t bits = bits_as<uint32_t>(value), magnitude = bits & 0x7fffffffu;
    const float small = bits_as<float>(magnitude) + 0.5f;  // whose last bit is that of the smallest half
    const uint32_t subnormal = bits_as<uint32_t>(small) - bits_as<uint32_t>(0.5f);
    const uint32_t normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u | (magnitude >> 13 & 0x3ffu) : 0x7c00u;
    const uint32_t rounded = magnitude < 113u << 23 ? subnormal : magnitude < 0x477ff000u ? normal : special;
    return static_cast<uint16_t>(rounded | (bits >> 16 & 0x8000u));
  }
};

struct BrainHalf : Floating<float> {
  using Memory = uint16_t;

  static float load(uint16_t memory) { return bits_as<float>(static_cast<uint32_t>(memory) << 16); }
  static uint16_t store(float value) {
    const uint32_t bits = bits_as<uint32_t>(value);
    const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return static_cast<uint16_t>(is_nan ? bits >> 16 | 0x40u : rounded);
  }
};

// Products that are added are rounded first, on processors too that could do both at once.
template <class T>
struct Complex {
  struct Memory {
    T real, imaginary;
  };
  using Counted = Memory;

  static Counted load(Memory memory) { return memory; }
  static Memory store(Counted value) { return value; }
  static Counted add(Counted a, Counted b) { return {a.real + b.real, a.imaginary + b.imaginary}; }
  static Counted mul(Counted a, Counted b) {
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
