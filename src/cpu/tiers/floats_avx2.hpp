#pragma once

#include "cpu/tiers/narrow_avx2.hpp"
#include "cpu/tiers/vectors.hpp"

// Vectors of float16 and float32 numbers in AVX2 registers. See body.hpp.

#if defined(_WIN32) && defined(__GNUC__) && !defined(__clang__)
// GCC does not align the stack of Windows to 32 bytes or 64, but moves vectors as if it did. The assembler replaces the
// moves.
asm(".macro vmovdqa operands:vararg\n\tvmovdqu \\operands\n.endm");
asm(".macro vmovaps operands:vararg\n\tvmovups \\operands\n.endm");
asm(".macro vmovdqa32 operands:vararg\n\tvmovdqu32 \\operands\n.endm");
asm(".macro vmovdqa64 operands:vararg\n\tvmovdqu64 \\operands\n.endm");
asm(".macro vmovapd operands:vararg\n\tvmovupd \\operands\n.endm");
#endif

namespace gather::cpu {
namespace {

// The instructions of F16C are written in assembly, because cgo does not allow the flag -mf16c. Rounding mode 0 is to
// nearest, ties to even.
struct HalvesAvx2 {
  template <int64_t n>
  static GATHER_INLINE Numbers<float, n> load(const char* at) {
    if constexpr (n == 1) return widen_four(_mm_cvtsi32_si128(load_numbers<uint16_t, 1>(at)))[0];
    if constexpr (n == 4) return widen_four(load_8(at));
    if constexpr (n == 8) {
      struct Eight {
        char bytes[16];
      };
      Numbers<float, 8> wide;
      asm("vcvtph2ps %1, %0" : "=x"(wide) : "m"(*reinterpret_cast<const Eight*>(at)));
      return wide;
    }
  }
  static GATHER_INLINE uint16_t round(float v) {
    return static_cast<uint16_t>(_mm_cvtsi128_si32(round_four(_mm_set_ss(v))));
  }
  static GATHER_INLINE Numbers<uint16_t, 4> round(Numbers<float, 4> v) {
    return same_bits<Numbers<uint16_t, 4>>(_mm_cvtsi128_si64(round_four(v)));
  }
  static GATHER_INLINE Numbers<uint16_t, 8> round(Numbers<float, 8> v) {
    Numbers<uint16_t, 8> rounded;
    asm("vcvtps2ph $0, %1, %0" : "=x"(rounded) : "x"(v));
    return rounded;
  }

 private:
  static GATHER_INLINE Numbers<float, 4> widen_four(__m128i v) {
    Numbers<float, 4> wide;
    asm("vcvtph2ps %1, %0" : "=x"(wide) : "x"(v));
    return wide;
  }
  static GATHER_INLINE __m128i round_four(__m128 v) {
    __m128i rounded;
    asm("vcvtps2ph $0, %1, %0" : "=x"(rounded) : "x"(v));
    return rounded;
  }
};

// The fused multiply-add is written in assembly for the same reason.
struct FloatsAvx2 {
  static GATHER_INLINE float multiply_add(float w, float v, float sum) {
    asm("vfmadd231ss %2, %1, %0" : "+x"(sum) : "x"(w), "xm"(v));
    return sum;
  }
  template <class V>
  static GATHER_INLINE V multiply_add(V w, V v, V sum) {
    asm("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(w), "xm"(v));
    return sum;
  }
  static GATHER_INLINE Numbers<float, 8> larger(Numbers<float, 8> v, Numbers<float, 8> than) {
    return _mm256_max_ps(v, than);
  }
  static GATHER_INLINE Numbers<float, 8> smaller(Numbers<float, 8> v, Numbers<float, 8> than) {
    return _mm256_min_ps(v, than);
  }
  static GATHER_INLINE Numbers<int32_t, 8> either_nan(Numbers<float, 8> a, Numbers<float, 8> b) {
    return same_bits<Numbers<int32_t, 8>>(_mm256_cmp_ps(a, b, _CMP_UNORD_Q));
  }
};

}  // namespace
}  // namespace gather::cpu
