#include <cpuid.h>
#include <immintrin.h>

#include "cpu/tiers/floats_avx2.hpp"
#include "cpu/tiers/narrow_avx2.hpp"
#include "cpu/tiers/tier.hpp"
#include "cpu/tiers/vectors.hpp"
#include "cpu/tiers/wide_avx2.hpp"
#include "gather/gather.h"

namespace gather::cpu {
namespace {

// Returns true if `rep movsb` is the fastest copy of long rows at every alignment. It is on processors of Intel that
// report fast short strings (FSRM). Zen 3 and Zen 4 report them too, but take up to 20 times as long if the target is
// not aligned.
bool copies_strings_fast() {
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
  return false;  // The sanitizer does not see what assembly writes.
#endif
#endif
  constexpr unsigned leaf = 7, fsrm = 1 << 4;
  unsigned a, b, c, d;
  return __builtin_cpu_is("intel") && __get_cpuid_count(leaf, 0, &a, &b, &c, &d) && (d & fsrm);
}

struct Lanes {
  static constexpr int32_t count = 4;
  static constexpr int64_t register_bytes = 32;
  typedef int64_t V __attribute__((vector_size(32)));
  typedef double D __attribute__((vector_size(32)));

  template <class T>
  static GATHER_INLINE V load(const char* at) {
    V v = load_as(T{}, at);
    asm("" : "+x"(v));  // keeps the compiler from loading the indices a second time
    return v;
  }
  static GATHER_INLINE V values(const int64_t* at) {
    return of(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
  }
  static GATHER_INLINE void store(int64_t* at, V v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), raw(v)); }
  static GATHER_INLINE V all(int64_t value) { return of(_mm256_set1_epi64x(value)); }
  static GATHER_INLINE V wrap(V v, V size) { return select(v, v + size, v); }
  static GATHER_INLINE V times(V a, V b) { return of(_mm256_mul_epi32(raw(a), raw(b))); }
  static GATHER_INLINE V select(V v, V a, V b) {
    return reinterpret_cast<V>(_mm256_blendv_pd(doubles(b), doubles(a), doubles(v)));
  }
  static GATHER_INLINE V add_pairs(V a, V b) {
    const __m256i mixed =
        _mm256_add_epi64(_mm256_unpacklo_epi64(raw(a), raw(b)), _mm256_unpackhi_epi64(raw(a), raw(b)));
    return of(_mm256_permute4x64_epi64(mixed, _MM_SHUFFLE(3, 1, 2, 0)));
  }
  static GATHER_INLINE bool is_any_negative(V v) { return _mm256_movemask_pd(doubles(v)) != 0; }
  static GATHER_INLINE NarrowAvx2::V narrow(const V* v) {
    const __m256 mixed = _mm256_shuffle_ps(floats(v[0]), floats(v[1]), _MM_SHUFFLE(2, 0, 2, 0));
    return reinterpret_cast<NarrowAvx2::V>(
        _mm256_permute4x64_epi64(_mm256_castps_si256(mixed), _MM_SHUFFLE(3, 1, 2, 0)));
  }
  static GATHER_INLINE void stream(char* to, const char* from) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), load_32(from));
  }
  static GATHER_INLINE void copy_string(char* to, const char* from, int64_t n) {
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
  }
  static bool has_fast_strings() {
    static const bool known = copies_strings_fast();  // queried once, because a virtual machine emulates cpuid
    return known;
  }
  static GATHER_INLINE void fence() { _mm_sfence(); }

 private:
  static GATHER_INLINE V of(__m256i v) { return reinterpret_cast<V>(v); }
  static GATHER_INLINE __m256i raw(V v) { return reinterpret_cast<__m256i>(v); }
  static GATHER_INLINE __m256 floats(V v) { return reinterpret_cast<__m256>(v); }
  static GATHER_INLINE __m256d doubles(V v) { return reinterpret_cast<__m256d>(v); }

  static GATHER_INLINE V load_as(int8_t, const char* at) { return of(_mm256_cvtepi8_epi64(load_4(at))); }
  static GATHER_INLINE V load_as(int16_t, const char* at) { return of(_mm256_cvtepi16_epi64(load_8(at))); }
  static GATHER_INLINE V load_as(int32_t, const char* at) { return of(_mm256_cvtepi32_epi64(load_16(at))); }
  static GATHER_INLINE V load_as(int64_t, const char* at) { return of(load_32(at)); }
  static GATHER_INLINE V load_as(uint8_t, const char* at) { return of(_mm256_cvtepu8_epi64(load_4(at))); }
  static GATHER_INLINE V load_as(uint16_t, const char* at) { return of(_mm256_cvtepu16_epi64(load_8(at))); }
  static GATHER_INLINE V load_as(uint32_t, const char* at) { return of(_mm256_cvtepu32_epi64(load_16(at))); }
};

using Narrow = NarrowAvx2;
using Halves = HalvesAvx2;
using Floats = FloatsAvx2;
using Wide = WideAvx2;

}  // namespace
}  // namespace gather::cpu

#include "cpu/tiers/bags.hpp"
#include "cpu/tiers/body.hpp"

namespace gather::cpu {

constexpr Tier avx2_tier = tier_of(GTH_TIER_AVX2, choose_pooling);

}  // namespace gather::cpu
