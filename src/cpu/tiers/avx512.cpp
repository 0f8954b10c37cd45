#include <immintrin.h>

#include "cpu/tiers/floats_avx2.hpp"
#include "cpu/tiers/tier.hpp"
#include "cpu/tiers/vectors.hpp"
#include "cpu/tiers/wide_avx2.hpp"

// The headers have more functions than this tier uses.
#pragma GCC diagnostic ignored "-Wunused-function"

namespace gather::cpu {
namespace {

struct Lanes {
  static constexpr int64_t register_bytes = 64;
};

struct Halves : HalvesAvx2 {
  template <int64_t n>
  static GATHER_INLINE Numbers<float, n> load(const char* at) {
    if constexpr (n == 16) return _mm512_cvtph_ps(load_32(at));
    if constexpr (n < 16) return HalvesAvx2::load<n>(at);
  }
  using HalvesAvx2::round;
  static GATHER_INLINE Numbers<uint16_t, 16> round(Numbers<float, 16> v) {
    return same_bits<Numbers<uint16_t, 16>>(_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
};

struct Floats : FloatsAvx2 {
  using FloatsAvx2::multiply_add;
  // As in FloatsAvx2, so that the same one of two NaN is the result.
  static GATHER_INLINE Numbers<float, 16> multiply_add(Numbers<float, 16> w, Numbers<float, 16> v,
                                                       Numbers<float, 16> sum) {
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(w), "vm"(v));
    return sum;
  }
  static GATHER_INLINE Numbers<float, 16> larger(Numbers<float, 16> v, Numbers<float, 16> than) {
    return _mm512_max_ps(v, than);
  }
  static GATHER_INLINE Numbers<float, 16> smaller(Numbers<float, 16> v, Numbers<float, 16> than) {
    return _mm512_min_ps(v, than);
  }
  static GATHER_INLINE Numbers<int32_t, 16> either_nan(Numbers<float, 16> a, Numbers<float, 16> b) {
    return same_bits<Numbers<int32_t, 16>>(_mm512_movm_epi32(_mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q)));
  }
};

// Chunks of bytes fill registers of AVX2.
struct Wide : WideAvx2 {
  static constexpr int64_t count = 16;
  using Values = Numbers<float, 16>;
  using Bits = Numbers<int32_t, 16>;

  static GATHER_INLINE Bits unsigned_bytes(const char* at) {
    return same_bits<Bits>(_mm512_cvtepu8_epi32(load_16(at)));
  }
  static GATHER_INLINE Bits signed_bytes(const char* at) { return same_bits<Bits>(_mm512_cvtepi8_epi32(load_16(at))); }
  template <int64_t n>
  static GATHER_INLINE Numbers<uint16_t, n> high_bytes(const char* at) {
    if constexpr (n == 16) {
      return WideAvx2::high_bytes<16>(at);
    } else {
      return same_bits<Numbers<uint16_t, 32>>(_mm512_slli_epi16(_mm512_cvtepu8_epi16(load_32(at)), 8));
    }
  }
  static GATHER_INLINE Numbers<uint32_t, 16> nibbles(const char* at) {
    const __m512i place = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    return same_bits<Numbers<uint32_t, 16>>(_mm512_permutexvar_epi32(place, _mm512_castsi128_si512(load_8(at))));
  }
  template <bool is_signed>
  static GATHER_INLINE void widen_bytes(Octets v, Bits* to) {
    const auto raw = same_bits<__m256i>(v);
    const __m128i halves[2] = {_mm256_castsi256_si128(raw), _mm256_extracti128_si256(raw, 1)};
    for (int i = 0; i < 2; ++i) {
      to[i] = same_bits<Bits>(is_signed ? _mm512_cvtepi8_epi32(halves[i]) : _mm512_cvtepu8_epi32(halves[i]));
    }
  }

  static GATHER_INLINE Values widen(Numbers<uint16_t, 16> v) { return _mm512_cvtph_ps(same_bits<__m256i>(v)); }
  static GATHER_INLINE void widen_both(Numbers<uint16_t, 32> v, Values* to) {
    const auto both = same_bits<__m512i>(v);
    to[0] = _mm512_cvtph_ps(_mm512_castsi512_si256(both));
    to[1] = _mm512_cvtph_ps(_mm512_extracti64x4_epi64(both, 1));
  }
  static GATHER_INLINE Values all_of_float16(const char* at) {
    return _mm512_cvtph_ps(_mm256_set1_epi16(load_numbers<int16_t, 1>(at)));
  }
  static GATHER_INLINE Values multiply_add(Values v, Values by, Values to) {
    asm("vfmadd213ps %2, %1, %0" : "+v"(v) : "v"(by), "vm"(to));
    return v;
  }
  static GATHER_INLINE Values look_up(const float* entries, Bits v) {
    return _mm512_permutexvar_ps(same_bits<__m512i>(v), _mm512_loadu_ps(entries));
  }
};

}  // namespace
}  // namespace gather::cpu

#include "cpu/tiers/bags.hpp"
#include "cpu/tiers/pool_packed.hpp"

namespace gather::cpu {
namespace {

// float16 gains only if the sums of a row fit these registers, but not those of AVX2.
PoolBags choose_halves(Pool pool, int64_t elements) {
  using U = Unit<Half, most_floats>;
  const int64_t units = (elements + U::width - 1) / U::width;
  if (elements <= 128 || units > most_columns<U>) return nullptr;
  switch (pool) {
    case Pool::sum: return choose_columns<U, SumRows>(units);
    case Pool::weighted_sum: return choose_columns<U, SumWeighted>(units);
    default: return nullptr;
  }
}

// Groups are faster than columns of many units.
template <class Exact, class Fast>
PoolBags choose_extremes(int64_t elements) {
  using U = Unit<Plain<float>, most_floats>;
  constexpr int32_t most = 12;
  if (elements < 64) return nullptr;
  const PoolBags columns = choose_columns<U, Fast, most>((elements + U::width - 1) / U::width);
  return columns ? columns : pool_groups<U, Exact>;
}

// Sums of float32 are as fast with AVX2.
PoolBags choose_gaining(const Pooled& pooled, int64_t elements) {
  if (pooled.rounds_each) return nullptr;
  if (pooled.number == Number::brain_floating) return choose_sums<BrainPairs<most_floats>>(pooled.pool, elements);
  if (pooled.number != Number::floating) return nullptr;
  if (pooled.item == 2) return choose_halves(pooled.pool, elements);
  if (pooled.item == 8 || (pooled.pool != Pool::max && pooled.pool != Pool::min)) return nullptr;
  return pooled.pool == Pool::max ? choose_extremes<MaxRows, FastMax>(elements)
                                  : choose_extremes<MinRows, FastMin>(elements);
}

// The formats whose rows are added faster by vectors of 16: all but q4_1, q4_k, q5_k, and rare combinations.
template <class Format>
constexpr bool gains = false;
template <class Codes, Formula formula>
constexpr bool gains<Frequent<Codes, formula>> = !std::is_same_v<Codes, OfGguf<Uint4Codes<CodePacking::halves>>>;
template <class Block>
constexpr bool gains<Named<Block>> = true;
template <bool has_fifth>
constexpr bool gains<Named<BlockOfSixBits<has_fifth>>> = false;

// Only chunks gain. Blocks that are not whole vectors have none.
PoolBags choose_gaining_packed(const Codec& codec, bool weighs, bool as_torch) {
  if (codec.values < chunk_numbers || (codec.block_values < codec.values && codec.block_values % lanes != 0)) {
    return nullptr;
  }
  const bool is_bias_first = as_torch && codec.rule == Rule::fused;
  return with_format(codec, [=](auto format) -> PoolBags {
    if constexpr (gains<decltype(format)>) return pooling_of<decltype(format)>(weighs, is_bias_first);
    return nullptr;
  });
}

}  // namespace

constexpr PoolingTier avx512_pooling = {choose_gaining, choose_gaining_packed};

}  // namespace gather::cpu
