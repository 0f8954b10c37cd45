#pragma once

#include "cpu/tiers/narrow_avx2.hpp"
#include "cpu/tiers/vectors.hpp"

// Vectors of decoded numbers in AVX2 registers. See body.hpp.
namespace gather::cpu {
namespace {

struct WideAvx2 {
  static constexpr int64_t count = 8, octets = 32;
  using Values = Numbers<float, 8>;
  using Bits = Numbers<int32_t, 8>;
  using Octets = Numbers<uint8_t, 32>;

  // Compilers convert vectors of bytes in several steps, unless they are written with intrinsics.
  static GATHER_INLINE Bits unsigned_bytes(const char* at) { return same_bits<Bits>(_mm256_cvtepu8_epi32(load_8(at))); }
  static GATHER_INLINE Bits signed_bytes(const char* at) { return same_bits<Bits>(_mm256_cvtepi8_epi32(load_8(at))); }
  template <int64_t n>
  static GATHER_INLINE Numbers<uint16_t, n> high_bytes(const char* at) {
    if constexpr (n == 8) {
      return same_bits<Numbers<uint16_t, 8>>(_mm_unpacklo_epi8(_mm_setzero_si128(), load_8(at)));
    } else {
      const __m256i byte = _mm256_setr_epi8(-1, 0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 5, -1, 6, -1, 7, -1, 8, -1, 9, -1,
                                            10, -1, 11, -1, 12, -1, 13, -1, 14, -1, 15);
      return same_bits<Numbers<uint16_t, 16>>(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(load_16(at)), byte));
    }
  }
  template <bool is_signed>
  static GATHER_INLINE void widen_bytes(Octets v, Bits* to) {
    const __m128i low = _mm256_castsi256_si128(raw(v)), high = _mm256_extracti128_si256(raw(v), 1);
    const __m128i eights[4] = {low, _mm_unpackhi_epi64(low, low), high, _mm_unpackhi_epi64(high, high)};
    for (int i = 0; i < 4; ++i) {
      to[i] = same_bits<Bits>(is_signed ? _mm256_cvtepi8_epi32(eights[i]) : _mm256_cvtepu8_epi32(eights[i]));
    }
  }

  // The instruction of F16C is written in assembly, because cgo does not allow the flag -mf16c.
  static GATHER_INLINE Values widen(Numbers<uint16_t, 8> v) {
    Values wide;
    asm("vcvtph2ps %1, %0" : "=x"(wide) : "x"(v));
    return wide;
  }
  static GATHER_INLINE void widen_both(Numbers<uint16_t, 16> v, Values* to) {
    const __m256i both = same_bits<__m256i>(v);
    to[0] = widen(same_bits<Numbers<uint16_t, 8>>(_mm256_castsi256_si128(both)));
    to[1] = widen(same_bits<Numbers<uint16_t, 8>>(_mm256_extracti128_si256(both, 1)));
  }
  static GATHER_INLINE Values all_of_float16(const char* at) {
    return widen(same_bits<Numbers<uint16_t, 8>>(_mm_set1_epi16(load_numbers<int16_t, 1>(at))));
  }
  static GATHER_INLINE Values multiply_add(Values v, Values by, Values to) {
    asm("vfmadd213ps %2, %1, %0" : "+x"(v) : "x"(by), "xm"(to));
    return v;
  }

  static GATHER_INLINE Values look_up(const float* entries, Bits v) {
    const __m256i number = same_bits<__m256i>(v);
    const __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(entries), number);
    const __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(entries + 8), number);
    const __m256 is_high = _mm256_castsi256_ps(_mm256_slli_epi32(number, 28));  // moves bit 3 to the sign
    return _mm256_blendv_ps(low, high, is_high);
  }
  static GATHER_INLINE Octets look_up_bytes(const int8_t* entries, Octets v) {
    const __m256i table = _mm256_broadcastsi128_si256(load_16(reinterpret_cast<const char*>(entries)));
    return same_bits<Octets>(_mm256_shuffle_epi8(table, raw(v)));
  }

  static GATHER_INLINE void unpack_halves(const char* at, Octets* to) {
    const __m256i twice = _mm256_broadcastsi128_si256(load_16(at));
    *to = same_bits<Octets>(_mm256_srlv_epi64(twice, _mm256_setr_epi64x(0, 0, 4, 4))) & 15;
  }
  static GATHER_INLINE void unpack_halves_of_eight(const char* at, Octets* to) {
    const __m256i twice = _mm256_permute4x64_epi64(_mm256_castsi128_si256(load_16(at)), _MM_SHUFFLE(1, 1, 0, 0));
    *to = same_bits<Octets>(_mm256_srlv_epi64(twice, _mm256_setr_epi64x(0, 4, 0, 4))) & 15;
  }
  static GATHER_INLINE void spread_bits(const char* at, Octets* to) {
    const __m256i word = _mm256_set1_epi32(load_numbers<int32_t, 1>(at));
    const __m256i byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201));
    *to = same_bits<Octets>(_mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(word, byte), bit), bit));
  }

 private:
  static GATHER_INLINE __m256i raw(Octets v) { return same_bits<__m256i>(v); }
};

}  // namespace
}  // namespace gather::cpu
