#include "cpu/tiers/tier.hpp"
#include "gather/gather.h"

#include "cpu/tiers/scalar.hpp"
#include "cpu/tiers/soft_floats.hpp"
#include "cpu/tiers/soft_halves.hpp"

namespace gather::cpu {
namespace {

// Processes indices one by one. Rows use 16-byte vectors, which every supported processor has.
struct Lanes : Scalar {
  static constexpr int64_t register_bytes = 16;

  static GATHER_INLINE void stream(char* to, const char* from) { __builtin_memcpy(to, from, register_bytes); }
  static GATHER_INLINE void copy_string(char* to, const char* from, int64_t n) {
    __builtin_memcpy(to, from, static_cast<size_t>(n));
  }
  static bool has_fast_strings() { return false; }
  static GATHER_INLINE void fence() {}
};

struct Narrow {
  static constexpr int32_t count = 0;
};

using Halves = SoftHalves;
using Floats = SoftFloats;

// Packed rows are decoded number by number.
struct Wide {
  static constexpr int64_t count = 1, octets = 1;

  template <bool is_signed>
  static void widen_bytes(uint8_t v, int32_t* to) {
    *to = is_signed ? static_cast<int8_t>(v) : v;
  }
  static float all_of_float16(const char* at) { return Halves::load<1>(at); }
  static uint8_t look_up_bytes(const int8_t* entries, uint8_t v) { return static_cast<uint8_t>(entries[v]); }
  static void unpack_halves(const char* at, uint8_t* to) {
    for (int32_t i = 0; i < 32; ++i) to[i] = nibble_at(at + i % 16, i >= 16);
  }
  static void unpack_halves_of_eight(const char* at, uint8_t* to) {
    for (int32_t i = 0; i < 32; ++i) to[i] = nibble_at(at + i / 16 * 8 + i % 8, i % 16 >= 8);
  }
  static void spread_bits(const char* at, uint8_t* to) {
    for (int32_t i = 0; i < 32; ++i) to[i] = at[i / 8] >> i % 8 & 1 ? 255 : 0;
  }

 private:
  static uint8_t nibble_at(const char* at, bool is_high) {
    const auto byte = static_cast<unsigned char>(*at);
    return static_cast<uint8_t>(is_high ? byte >> 4 : byte & 15);
  }
};

}  // namespace
}  // namespace gather::cpu

#include "cpu/tiers/body.hpp"

namespace gather::cpu {

constexpr Tier portable_tier = tier_of(GTH_TIER_PORTABLE, nullptr);

}  // namespace gather::cpu
