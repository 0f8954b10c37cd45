#include <immintrin.h>

#include <cstdint>
#include <cstring>

// The AVX-512 tier for processors without AVX-512: the same source, its instructions by SIMD Everywhere. Says whether the
// tier counts right, not whether it is quick.
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

namespace {

// SIMD Everywhere lacks these.
template <class T, class Narrow>
simde__m512i widen(Narrow narrow) {
  static_assert(sizeof(Narrow) >= 8 * sizeof(T), "");
  T from[8];
  std::memcpy(from, &narrow, sizeof from);
  int64_t to[8];
  for (int i = 0; i < 8; ++i) to[i] = static_cast<int64_t>(from[i]);
  return simde_mm512_loadu_si512(to);
}

}  // namespace

#define _mm512_cvtepi8_epi64 widen<int8_t>
#define _mm512_cvtepi16_epi64 widen<int16_t>
#define _mm512_cvtepi32_epi64 widen<int32_t>
#define _mm512_cvtepu8_epi64 widen<uint8_t>
#define _mm512_cvtepu16_epi64 widen<uint16_t>
#define _mm512_cvtepu32_epi64 widen<uint32_t>
#define _mm512_stream_si512 simde_mm512_store_si512

// The register that keeps what has been loaded is memory here.
#define asm(...) __asm__("" : "+m"(v))

#define avx512_tier emulated_avx512_tier
#include "cpu/tiers/avx512.cpp"
