#include <arm_neon.h>

#include "cpu/tiers/soft_floats.hpp"
#include "cpu/tiers/tier.hpp"
#include "cpu/tiers/vectors.hpp"
#include "gather/gather.h"

namespace gather::cpu {
namespace {

struct Narrow {
  static constexpr int32_t count = 4;
  using V = int32x4_t;

  template <class T>
  static GATHER_INLINE V load(const char* at) {
    V v = load_as(T{}, at);
    asm("" : "+w"(v));  // keeps the compiler from loading the indices a second time
    return v;
  }
  static GATHER_INLINE V all(int32_t value) { return vdupq_n_s32(value); }
  static GATHER_INLINE bool is_any_negative(V v) { return vminvq_s32(v) < 0; }

  using Table = uint8x16x4_t;
  static GATHER_INLINE Table table(const int32_t* entries) {
    const auto* at = reinterpret_cast<const uint8_t*>(entries);
    return {{vld1q_u8(at), vld1q_u8(at + 16), vld1q_u8(at + 32), vld1q_u8(at + 48)}};
  }
  static GATHER_INLINE V look_up(const Table& table, V index) {
    const V bytes = index * 0x04040404 + 0x03020100;  // the numbers of the four bytes of each entry
    return vreinterpretq_s32_u8(vqtbl4q_u8(table, vreinterpretq_u8_s32(bytes)));
  }

  template <int64_t bytes>
  static GATHER_INLINE void store(char* to, V v) {
    if constexpr (bytes == 4) {
      vst1q_u8(reinterpret_cast<uint8_t*>(to), vreinterpretq_u8_s32(v));
    } else {
      const int16x4_t halves = vmovn_s32(v);
      if constexpr (bytes == 2) vst1_u8(reinterpret_cast<uint8_t*>(to), vreinterpret_u8_s16(halves));
      if constexpr (bytes == 1) {
        const auto quarters = vmovn_s16(vcombine_s16(halves, halves));
        const int32_t all_four = vget_lane_s32(vreinterpret_s32_s8(quarters), 0);
        __builtin_memcpy(to, &all_four, sizeof all_four);
      }
    }
  }

 private:
  template <class T>
  static GATHER_INLINE T bits(const char* at) {
    T all_four;
    __builtin_memcpy(&all_four, at, sizeof all_four);
    return all_four;
  }
  static GATHER_INLINE V load_as(int8_t, const char* at) {
    return vmovl_s16(vget_low_s16(vmovl_s8(vcreate_s8(bits<uint32_t>(at)))));
  }
  static GATHER_INLINE V load_as(int16_t, const char* at) { return vmovl_s16(vcreate_s16(bits<uint64_t>(at))); }
  static GATHER_INLINE V load_as(int32_t, const char* at) {
    return vreinterpretq_s32_u8(vld1q_u8(reinterpret_cast<const uint8_t*>(at)));
  }
  static GATHER_INLINE V load_as(uint8_t, const char* at) {
    return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(bits<uint32_t>(at))))));
  }
  static GATHER_INLINE V load_as(uint16_t, const char* at) {
    return vreinterpretq_s32_u32(vmovl_u16(vcreate_u16(bits<uint64_t>(at))));
  }
  static GATHER_INLINE V load_as(uint32_t, const char* at) { return load_as(int32_t{}, at); }
};

struct Lanes {
  static constexpr int32_t count = 2;
  static constexpr int64_t register_bytes = 16;
  using V = int64x2_t;
  using D = float64x2_t;

  template <class T>
  static GATHER_INLINE V load(const char* at) {
    V v = load_as(T{}, at);
    asm("" : "+w"(v));  // keeps the compiler from loading the indices a second time
    return v;
  }
  static GATHER_INLINE V values(const int64_t* at) { return vld1q_s64(at); }
  static GATHER_INLINE void store(int64_t* at, V v) { vst1q_s64(at, v); }
  static GATHER_INLINE V all(int64_t value) { return vdupq_n_s64(value); }
  static GATHER_INLINE V wrap(V v, V size) { return v + (vshrq_n_s64(v, 63) & size); }
  static GATHER_INLINE V times(V a, V b) { return vmull_s32(vmovn_s64(a), vmovn_s64(b)); }
  static GATHER_INLINE V select(V v, V a, V b) { return vbslq_s64(vcltzq_s64(v), a, b); }
  static GATHER_INLINE V add_pairs(V a, V b) { return vpaddq_s64(a, b); }
  static GATHER_INLINE bool is_any_negative(V v) { return (vgetq_lane_s64(v, 0) | vgetq_lane_s64(v, 1)) < 0; }
  static GATHER_INLINE Narrow::V narrow(const V* v) { return vcombine_s32(vmovn_s64(v[0]), vmovn_s64(v[1])); }
  // There is no intrinsic for non-temporal stores.
  static GATHER_INLINE void stream(char* to, const char* from) {
    vst1q_u8(reinterpret_cast<uint8_t*>(to), vld1q_u8(reinterpret_cast<const uint8_t*>(from)));
  }
  static GATHER_INLINE void copy_string(char* to, const char* from, int64_t n) {
    __builtin_memcpy(to, from, static_cast<size_t>(n));
  }
  static bool has_fast_strings() { return false; }
  static GATHER_INLINE void fence() {}

 private:
  // Loads two indices into the low bytes.
  template <class T>
  static GATHER_INLINE T both(const char* at) {
    T bits;
    __builtin_memcpy(&bits, at, sizeof bits);
    return bits;
  }
  static GATHER_INLINE V load_as(int8_t, const char* at) {
    return vmovl_s32(vget_low_s32(vmovl_s16(vget_low_s16(vmovl_s8(vcreate_s8(both<uint16_t>(at)))))));
  }
  static GATHER_INLINE V load_as(int16_t, const char* at) {
    return vmovl_s32(vget_low_s32(vmovl_s16(vcreate_s16(both<uint32_t>(at)))));
  }
  static GATHER_INLINE V load_as(int32_t, const char* at) { return vmovl_s32(vcreate_s32(both<uint64_t>(at))); }
  static GATHER_INLINE V load_as(int64_t, const char* at) {
    return vreinterpretq_s64_u8(vld1q_u8(reinterpret_cast<const uint8_t*>(at)));
  }
  static GATHER_INLINE V load_as(uint8_t, const char* at) {
    return vreinterpretq_s64_u64(
        vmovl_u32(vget_low_u32(vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(both<uint16_t>(at))))))));
  }
  static GATHER_INLINE V load_as(uint16_t, const char* at) {
    return vreinterpretq_s64_u64(vmovl_u32(vget_low_u32(vmovl_u16(vcreate_u16(both<uint32_t>(at))))));
  }
  static GATHER_INLINE V load_as(uint32_t, const char* at) {
    return vreinterpretq_s64_u64(vmovl_u32(vcreate_u32(both<uint64_t>(at))));
  }
};

struct Halves {
  template <int64_t n>
  static GATHER_INLINE Numbers<float, n> load(const char* at) {
    return widen(load_numbers<uint16_t, n>(at));
  }
  // Intrinsics are not removed by the compiler, so a signalling NaN always becomes quiet.
  static GATHER_INLINE float widen(uint16_t v) { return widen(Numbers<uint16_t, 4>{v})[0]; }
  static GATHER_INLINE Numbers<float, 4> widen(Numbers<uint16_t, 4> v) {
    return same_bits<Numbers<float, 4>>(vcvt_f32_f16(same_bits<float16x4_t>(v)));
  }
  static GATHER_INLINE uint16_t round(float v) { return round(Numbers<float, 4>{v})[0]; }
  static GATHER_INLINE Numbers<uint16_t, 4> round(Numbers<float, 4> v) {
    return same_bits<Numbers<uint16_t, 4>>(vcvt_f16_f32(same_bits<float32x4_t>(v)));
  }
};

struct Floats : SoftFloats {
  static GATHER_INLINE float multiply_add(float w, float v, float sum) { return __builtin_fmaf(w, v, sum); }
  static GATHER_INLINE Numbers<float, 4> multiply_add(Numbers<float, 4> w, Numbers<float, 4> v, Numbers<float, 4> sum) {
    return same_bits<Numbers<float, 4>>(
        vfmaq_f32(same_bits<float32x4_t>(sum), same_bits<float32x4_t>(w), same_bits<float32x4_t>(v)));
  }
};

// The vectors of decoded numbers.
struct Wide {
  static constexpr int64_t count = 4, octets = 16;
  using Values = Numbers<float, 4>;
  using Bits = Numbers<int32_t, 4>;
  using Octets = Numbers<uint8_t, 16>;

  static GATHER_INLINE Bits unsigned_bytes(const char* at) {
    return same_bits<Bits>(vmovl_u16(vget_low_u16(vmovl_u8(bytes<4>(at)))));
  }
  static GATHER_INLINE Bits signed_bytes(const char* at) {
    return same_bits<Bits>(vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(bytes<4>(at))))));
  }
  template <int64_t n>
  static GATHER_INLINE Numbers<uint16_t, n> high_bytes(const char* at) {
    const uint16x8_t high = vshll_n_u8(bytes<n>(at), 8);
    if constexpr (n == 4) {
      return same_bits<Numbers<uint16_t, 4>>(vget_low_u16(high));
    } else {
      return same_bits<Numbers<uint16_t, 8>>(high);
    }
  }
  template <bool is_signed>
  static GATHER_INLINE void widen_bytes(Octets v, Bits* to) {
    const auto raw = same_bits<uint8x16_t>(v);
    if constexpr (is_signed) {
      const int8x16_t bytes = vreinterpretq_s8_u8(raw);
      const int16x8_t eights[2] = {vmovl_s8(vget_low_s8(bytes)), vmovl_high_s8(bytes)};
      for (int i = 0; i < 2; ++i) {
        to[2 * i] = same_bits<Bits>(vmovl_s16(vget_low_s16(eights[i])));
        to[2 * i + 1] = same_bits<Bits>(vmovl_high_s16(eights[i]));
      }
    } else {
      const uint16x8_t eights[2] = {vmovl_u8(vget_low_u8(raw)), vmovl_high_u8(raw)};
      for (int i = 0; i < 2; ++i) {
        to[2 * i] = same_bits<Bits>(vmovl_u16(vget_low_u16(eights[i])));
        to[2 * i + 1] = same_bits<Bits>(vmovl_high_u16(eights[i]));
      }
    }
  }

  static GATHER_INLINE Values widen(Numbers<uint16_t, 4> v) { return Halves::widen(v); }
  static GATHER_INLINE void widen_both(Numbers<uint16_t, 8> v, Values* to) {
    const auto both = same_bits<uint16x8_t>(v);
    to[0] = widen(same_bits<Numbers<uint16_t, 4>>(vget_low_u16(both)));
    to[1] = widen(same_bits<Numbers<uint16_t, 4>>(vget_high_u16(both)));
  }
  static GATHER_INLINE Values all_of_float16(const char* at) {
    return widen(same_bits<Numbers<uint16_t, 4>>(vdup_n_u16(load_numbers<uint16_t, 1>(at))));
  }
  static GATHER_INLINE Values multiply_add(Values v, Values by, Values to) {
    return same_bits<Values>(
        vfmaq_f32(same_bits<float32x4_t>(to), same_bits<float32x4_t>(v), same_bits<float32x4_t>(by)));
  }

  static GATHER_INLINE Values look_up(const float* entries, Bits v) {
    const Narrow::Table table = Narrow::table(reinterpret_cast<const int32_t*>(entries));
    return same_bits<Values>(Narrow::look_up(table, same_bits<Narrow::V>(v & 15)));
  }
  static GATHER_INLINE Octets look_up_bytes(const int8_t* entries, Octets v) {
    return same_bits<Octets>(vqtbl1q_s8(vld1q_s8(entries), same_bits<uint8x16_t>(v)));
  }

  static GATHER_INLINE void unpack_halves(const char* at, Octets* to) {
    const Octets bytes = load_numbers<uint8_t, 16>(at);
    to[0] = bytes & 15;
    to[1] = bytes >> 4;
  }
  static GATHER_INLINE void unpack_halves_of_eight(const char* at, Octets* to) {
    const Octets bytes = load_numbers<uint8_t, 16>(at);
    const auto low = same_bits<uint64x2_t>(static_cast<Octets>(bytes & 15));
    const auto high = same_bits<uint64x2_t>(static_cast<Octets>(bytes >> 4));
    to[0] = same_bits<Octets>(vzip1q_u64(low, high));
    to[1] = same_bits<Octets>(vzip2q_u64(low, high));
  }
  static GATHER_INLINE void spread_bits(const char* at, Octets* to) {
    const uint8x16_t bit = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    for (int i = 0; i < 2; ++i) {
      const auto* const byte = reinterpret_cast<const uint8_t*>(at) + 2 * i;
      to[i] = same_bits<Octets>(vtstq_u8(vcombine_u8(vdup_n_u8(byte[0]), vdup_n_u8(byte[1])), bit));
    }
  }

 private:
  template <int64_t n>
  static GATHER_INLINE uint8x8_t bytes(const char* at) {
    uint64_t word = 0;
    __builtin_memcpy(&word, at, n);
    return vcreate_u8(word);
  }
};

}  // namespace
}  // namespace gather::cpu

#include "cpu/tiers/bags.hpp"
#include "cpu/tiers/body.hpp"

namespace gather::cpu {

constexpr Tier neon_tier = tier_of(GTH_TIER_NEON, choose_pooling);

}  // namespace gather::cpu
