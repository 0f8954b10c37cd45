#include <immintrin.h>

#include "cpu/tiers/narrow_avx2.hpp"
#include "cpu/tiers/tier.hpp"
#include "gather/gather.h"

namespace gather::cpu {
namespace {

// AVX-512 F, BW, DQ and VL.
struct Lanes {
  static constexpr int32_t count = 8;
  static constexpr int64_t register_bytes = 64;
  typedef int64_t V __attribute__((vector_size(64)));
  typedef double D __attribute__((vector_size(64)));

  template <class T>
  static GATHER_INLINE V load(const char* at) {
    V v = load_as(T{}, at);
    asm("" : "+v"(v));  // what has been loaded is not loaded again
    return v;
  }
  static GATHER_INLINE V values(const int64_t* at) { return of(_mm512_loadu_si512(at)); }
  static GATHER_INLINE void store(int64_t* at, V v) { _mm512_storeu_si512(at, raw(v)); }
  static GATHER_INLINE V all(int64_t value) { return of(_mm512_set1_epi64(value)); }
  static GATHER_INLINE V wrap(V v, V size) {
    return of(_mm512_mask_add_epi64(raw(v), _mm512_movepi64_mask(raw(v)), raw(v), raw(size)));
  }
  static GATHER_INLINE V times(V a, V b) { return of(_mm512_mul_epi32(raw(a), raw(b))); }
  static GATHER_INLINE V select(V v, V a, V b) {
    return of(_mm512_mask_blend_epi64(_mm512_movepi64_mask(raw(v)), raw(b), raw(a)));
  }
  static GATHER_INLINE V add_pairs(V a, V b) {
    const __m512i mixed =
        _mm512_add_epi64(_mm512_unpacklo_epi64(raw(a), raw(b)), _mm512_unpackhi_epi64(raw(a), raw(b)));
    return of(_mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), mixed));
  }
  static GATHER_INLINE bool is_any_negative(V v) { return _mm512_movepi64_mask(raw(v)) != 0; }
  static GATHER_INLINE NarrowAvx2::V narrow(const V* v) {
    return reinterpret_cast<NarrowAvx2::V>(_mm512_cvtepi64_epi32(raw(v[0])));
  }
  static GATHER_INLINE void stream(char* to, const char* from) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
  }
  static GATHER_INLINE void fence() { _mm_sfence(); }

 private:
  static GATHER_INLINE V of(__m512i v) { return reinterpret_cast<V>(v); }
  static GATHER_INLINE __m512i raw(V v) { return reinterpret_cast<__m512i>(v); }

  static GATHER_INLINE V load_as(int8_t, const char* at) { return of(_mm512_cvtepi8_epi64(load_8(at))); }
  static GATHER_INLINE V load_as(int16_t, const char* at) { return of(_mm512_cvtepi16_epi64(load_16(at))); }
  static GATHER_INLINE V load_as(int32_t, const char* at) { return of(_mm512_cvtepi32_epi64(load_32(at))); }
  static GATHER_INLINE V load_as(int64_t, const char* at) { return of(_mm512_loadu_si512(at)); }
  static GATHER_INLINE V load_as(uint8_t, const char* at) { return of(_mm512_cvtepu8_epi64(load_8(at))); }
  static GATHER_INLINE V load_as(uint16_t, const char* at) { return of(_mm512_cvtepu16_epi64(load_16(at))); }
  static GATHER_INLINE V load_as(uint32_t, const char* at) { return of(_mm512_cvtepu32_epi64(load_32(at))); }
};

using Narrow = NarrowAvx2;

}  // namespace
}  // namespace gather::cpu

#include "cpu/tiers/body.hpp"

namespace gather::cpu {

const Tier avx512_tier = {GTH_TIER_AVX512, inside,     resolve,     choose_copy,    choose_take,
                          choose_write,    choose_sum, choose_give, choose_give_sum};

}  // namespace gather::cpu
