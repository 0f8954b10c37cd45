#pragma once

#include <immintrin.h>

#include "cpu/tiers/tier.hpp"

// Vectors of 32-bit integers in AVX2 registers. See body.hpp.
namespace gather::cpu {
namespace {

// Load 4, 8, 16 or 32 bytes into the low bytes of a register.
GATHER_INLINE __m128i load_4(const char* at) { return _mm_loadu_si32(at); }
GATHER_INLINE __m128i load_8(const char* at) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)); }
GATHER_INLINE __m128i load_16(const char* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }
GATHER_INLINE __m256i load_32(const char* at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)); }

struct NarrowAvx2 {
  static constexpr int32_t count = 8;
  typedef int32_t V __attribute__((vector_size(32)));

  template <class T>
  static GATHER_INLINE V load(const char* at) {
    V v = load_as(T{}, at);
    asm("" : "+x"(v));  // keeps the compiler from loading the indices a second time
    return v;
  }
  static GATHER_INLINE V all(int32_t value) { return of(_mm256_set1_epi32(value)); }
  static GATHER_INLINE bool is_any_negative(V v) {
    return _mm256_movemask_ps(_mm256_castsi256_ps(reinterpret_cast<__m256i>(v))) != 0;
  }

  struct Table {
    __m256i low, high;
  };
  static GATHER_INLINE Table table(const int32_t* entries) {
    const auto* at = reinterpret_cast<const __m256i*>(entries);
    return {_mm256_load_si256(at), _mm256_load_si256(at + 1)};
  }
  static GATHER_INLINE V look_up(const Table& table, V index) {
    const __m256i i = reinterpret_cast<__m256i>(index);
    const __m256 low = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(table.low, i));
    const __m256 high = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(table.high, i));
    const __m256 is_high = _mm256_castsi256_ps(_mm256_slli_epi32(i, 28));  // moves bit 3 to the sign
    return of(_mm256_castps_si256(_mm256_blendv_ps(low, high, is_high)));
  }

  template <int64_t bytes>
  static GATHER_INLINE void store(char* to, V v) {
    const __m256i wide = reinterpret_cast<__m256i>(v);
    if constexpr (bytes == 4) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), wide);
    } else {
      const __m256i halves = _mm256_permute4x64_epi64(_mm256_packus_epi32(wide, wide), _MM_SHUFFLE(3, 1, 2, 0));
      const __m128i two = _mm256_castsi256_si128(halves);
      if constexpr (bytes == 2) _mm_storeu_si128(reinterpret_cast<__m128i*>(to), two);
      if constexpr (bytes == 1) _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(two, two));
    }
  }

 private:
  static GATHER_INLINE V of(__m256i v) { return reinterpret_cast<V>(v); }

  static GATHER_INLINE V load_as(int8_t, const char* at) { return of(_mm256_cvtepi8_epi32(load_8(at))); }
  static GATHER_INLINE V load_as(int16_t, const char* at) { return of(_mm256_cvtepi16_epi32(load_16(at))); }
  static GATHER_INLINE V load_as(int32_t, const char* at) { return of(load_32(at)); }
  static GATHER_INLINE V load_as(uint8_t, const char* at) { return of(_mm256_cvtepu8_epi32(load_8(at))); }
  static GATHER_INLINE V load_as(uint16_t, const char* at) { return of(_mm256_cvtepu16_epi32(load_16(at))); }
  static GATHER_INLINE V load_as(uint32_t, const char* at) { return of(load_32(at)); }
};

}  // namespace
}  // namespace gather::cpu
