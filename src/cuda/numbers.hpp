#pragma once

#include <type_traits>

#include "core/types/reduction.hpp"
#include "cuda/shared.hpp"

// The arithmetic of scatters and bags. Results have the bits of the CPU, except those of NaN. Products and sums are
// rounded separately, because the CPU does not contract them to a fused multiply-add.
namespace gather::cuda {

GATHER_SHARED float sum_of(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}
GATHER_SHARED double sum_of(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}
GATHER_SHARED float product_of(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
GATHER_SHARED double product_of(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

// Returns a * b + c, rounded once.
GATHER_SHARED float multiply_add(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}
GATHER_SHARED float root_of(float value) {
#ifdef __CUDA_ARCH__
  return __fsqrt_rn(value);
#else
  return __builtin_sqrtf(value);
#endif
}
GATHER_SHARED double root_of(double value) {
#ifdef __CUDA_ARCH__
  return __dsqrt_rn(value);
#else
  return __builtin_sqrt(value);
#endif
}

template <class To, class From>
GATHER_SHARED To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "the bits of a number");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// Conversions of float16. Every operation on its numbers is one of float32 and a rounding.
GATHER_SHARED float widen_half(uint16_t bits) {
#ifdef __CUDA_ARCH__
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(bits));
  return result;
#else
  const uint32_t magnitude = bits & 0x7fffu, sign = uint32_t{bits & 0x8000u} << 16;
  if (magnitude >= 0x7c00) return same_bits<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude >= 0x400) return same_bits<float>(sign | ((magnitude << 13) + (112u << 23)));
  return same_bits<float>(sign | same_bits<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f));
#endif
}

GATHER_SHARED uint16_t round_to_half(float value) {
#ifdef __CUDA_ARCH__
  uint16_t result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
  return result;
#else
  const uint32_t bits = same_bits<uint32_t>(value), magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  const auto with_sign = [sign](uint32_t half) { return static_cast<uint16_t>(sign | half); };
  if (magnitude > 0x7f800000) return with_sign(0x7e00 | (magnitude >> 13 & 0x3ff));
  if (magnitude >= 0x477ff000) return with_sign(0x7c00);
  if (magnitude >= 113u << 23) return with_sign((magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13);
  // The last bit of the sum has the value of the smallest subnormal.
  return with_sign(same_bits<uint32_t>(same_bits<float>(magnitude) + 0.5f) - same_bits<uint32_t>(0.5f));
#endif
}

GATHER_SHARED float widen_brain_half(uint16_t bits) { return same_bits<float>(uint32_t{bits} << 16); }

GATHER_SHARED uint16_t round_to_brain_half(float value) {
  const uint32_t bits = same_bits<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// A type of numbers has
// Stored, Value           the types of a number in memory and during a reduction
// load(stored), store(value)
// add, mul, max, min      the reductions of two values
// divide(value, count)    the mean of a sum
// precedes(is_min, a, b)  true if a is larger or smaller than b. A NaN precedes all numbers

template <class V>
GATHER_SHARED bool is_nan(V value) {
  if constexpr (std::is_floating_point_v<V>) return !(value <= V{same_bits<float>(0x7f800000)});  // infinity
  return false;
}

template <class V>
GATHER_SHARED V larger_of(V a, V b) {
  return ((b <= a) | is_nan(a)) ? a : b;
}
template <class V>
GATHER_SHARED V smaller_of(V a, V b) {
  return ((a <= b) | is_nan(a)) ? a : b;
}

template <class V>
struct Ordered {
  using Value = V;
  static GATHER_SHARED V max(V a, V b) { return larger_of(a, b); }
  static GATHER_SHARED V min(V a, V b) { return smaller_of(a, b); }
  static GATHER_SHARED bool precedes(bool is_min, V a, V b) {
    if (is_nan(a) || is_nan(b)) return !is_nan(b);
    return is_min ? a < b : a > b;
  }
};

// Sums and products wrap.
template <class T>
struct Integers : Ordered<T> {
  using Stored = T;
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  static GATHER_SHARED T load(T stored) { return stored; }
  static GATHER_SHARED T store(T value) { return value; }
  static GATHER_SHARED T add(T a, T b) { return static_cast<T>(static_cast<Bits>(a) + static_cast<Bits>(b)); }
  static GATHER_SHARED T mul(T a, T b) { return static_cast<T>(static_cast<Bits>(a) * static_cast<Bits>(b)); }
  // Quotients are rounded down.
  static GATHER_SHARED T divide(T value, int64_t count) {
    if constexpr (std::is_unsigned_v<T>) return static_cast<T>(uint64_t{value} / static_cast<uint64_t>(count));
    const int64_t number = static_cast<int64_t>(value), quotient = number / count;
    return static_cast<T>(number < 0 && quotient * count != number ? quotient - 1 : quotient);
  }
};

// Bytes are false if they are 0. The written values are 0 and 1.
struct Booleans {
  using Stored = uint8_t;
  using Value = uint8_t;
  static GATHER_SHARED uint8_t load(uint8_t stored) { return stored; }
  static GATHER_SHARED uint8_t store(uint8_t value) { return value; }
  static GATHER_SHARED uint8_t add(uint8_t a, uint8_t b) { return (a | b) != 0; }
  static GATHER_SHARED uint8_t mul(uint8_t a, uint8_t b) { return (a != 0) & (b != 0); }
  static GATHER_SHARED uint8_t max(uint8_t a, uint8_t b) { return add(a, b); }
  static GATHER_SHARED uint8_t min(uint8_t a, uint8_t b) { return mul(a, b); }
  static GATHER_SHARED bool precedes(bool is_min, uint8_t a, uint8_t b) {
    return is_min ? a == 0 && b != 0 : a != 0 && b == 0;
  }
  static GATHER_SHARED uint8_t divide(uint8_t value, int64_t) { return value; }
};

template <class T>
struct Floats : Ordered<T> {
  using Stored = T;
  static GATHER_SHARED T load(T stored) { return stored; }
  static GATHER_SHARED T store(T value) { return value; }
  static GATHER_SHARED T add(T a, T b) { return sum_of(a, b); }
  static GATHER_SHARED T mul(T a, T b) { return product_of(a, b); }
  static GATHER_SHARED T divide(T value, int64_t count) { return value / static_cast<T>(count); }
};

// float32 that is accumulated in float64.
struct FloatsInDouble : Floats<double> {
  using Stored = float;
  static GATHER_SHARED double load(float stored) { return stored; }
  static GATHER_SHARED float store(double value) { return static_cast<float>(value); }
};

// Halves that are accumulated in float32.
struct HalvesInFloat : Floats<float> {
  using Stored = uint16_t;
  static GATHER_SHARED float load(uint16_t stored) { return widen_half(stored); }
  static GATHER_SHARED uint16_t store(float value) { return round_to_half(value); }
};
struct BrainHalvesInFloat : Floats<float> {
  using Stored = uint16_t;
  static GATHER_SHARED float load(uint16_t stored) { return widen_brain_half(stored); }
  static GATHER_SHARED uint16_t store(float value) { return round_to_brain_half(value); }
};

// Halves of which each sum and product is rounded.
template <class InFloat>
struct Rounded : InFloat {
  static GATHER_SHARED float round(float value) { return InFloat::load(InFloat::store(value)); }
  static GATHER_SHARED float add(float a, float b) { return round(sum_of(a, b)); }
  static GATHER_SHARED float mul(float a, float b) { return round(product_of(a, b)); }
};
using Halves = Rounded<HalvesInFloat>;
using BrainHalves = Rounded<BrainHalvesInFloat>;

template <class T>
struct Parts {
  T real, imaginary;
};

// Complex numbers have no order.
template <class T>
struct Complex {
  using Stored = Parts<T>;
  using Value = Parts<T>;
  static GATHER_SHARED Value load(Stored stored) { return stored; }
  static GATHER_SHARED Stored store(Value value) { return value; }
  static GATHER_SHARED Value add(Value a, Value b) {
    return {sum_of(a.real, b.real), sum_of(a.imaginary, b.imaginary)};
  }
  static GATHER_SHARED Value mul(Value a, Value b) {
    return {sum_of(product_of(a.real, b.real), -product_of(a.imaginary, b.imaginary)),
            sum_of(product_of(a.real, b.imaginary), product_of(a.imaginary, b.real))};
  }
  static GATHER_SHARED Value max(Value a, Value) { return a; }
  static GATHER_SHARED Value min(Value a, Value) { return a; }
  static GATHER_SHARED Value divide(Value value, int64_t count) {
    return {value.real / static_cast<T>(count), value.imaginary / static_cast<T>(count)};
  }
};

// The types of numbers for which there are kernels.
enum class Numbers : uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  half,
  half_in_float,
  brain_half,
  brain_half_in_float,
  float32,
  float32_in_double,
  float64,
  complex64,
  complex128,
};
constexpr int number_types = static_cast<int>(Numbers::complex128) + 1;

// Returns true if a reduction uses a wider type than that of the numbers.
constexpr bool is_widened(Numbers numbers) {
  return numbers == Numbers::half_in_float || numbers == Numbers::brain_half_in_float ||
         numbers == Numbers::float32_in_double;
}

// Calls visit(Type{}) for a type of numbers.
template <class Visit>
auto visit_numbers(Numbers numbers, Visit&& visit) {
  switch (numbers) {
    case Numbers::boolean: return visit(Booleans{});
    case Numbers::int8: return visit(Integers<int8_t>{});
    case Numbers::int16: return visit(Integers<int16_t>{});
    case Numbers::int32: return visit(Integers<int32_t>{});
    case Numbers::int64: return visit(Integers<int64_t>{});
    case Numbers::uint8: return visit(Integers<uint8_t>{});
    case Numbers::uint16: return visit(Integers<uint16_t>{});
    case Numbers::uint32: return visit(Integers<uint32_t>{});
    case Numbers::uint64: return visit(Integers<uint64_t>{});
    case Numbers::half: return visit(Halves{});
    case Numbers::half_in_float: return visit(HalvesInFloat{});
    case Numbers::brain_half: return visit(BrainHalves{});
    case Numbers::brain_half_in_float: return visit(BrainHalvesInFloat{});
    case Numbers::float32: return visit(Floats<float>{});
    case Numbers::float32_in_double: return visit(FloatsInDouble{});
    case Numbers::float64: return visit(Floats<double>{});
    case Numbers::complex64: return visit(Complex<float>{});
    default: return visit(Complex<double>{});
  }
}

// Returns true if there are atomic operations on the numbers.
constexpr bool has_atomics(Numbers numbers) {
  return numbers == Numbers::int32 || numbers == Numbers::int64 || numbers == Numbers::uint32 ||
         numbers == Numbers::uint64 || numbers == Numbers::float32 || numbers == Numbers::float64;
}

// Neighbouring numbers that are added at once. Each sum is atomic.
struct alignas(16) FourFloats {
  float at[4];
};

// Calls visit(number) with a number of the type, or with four of them if the type is float32. Precondition: has_atomics.
template <class Visit>
auto visit_atomic(Numbers numbers, bool in_vectors, Visit&& visit) {
  switch (numbers) {
    case Numbers::int32: return visit(int32_t{});
    case Numbers::int64: return visit(int64_t{});
    case Numbers::uint32: return visit(uint32_t{});
    case Numbers::uint64: return visit(uint64_t{});
    case Numbers::float32: return in_vectors ? visit(FourFloats{}) : visit(0.0f);
    default: return visit(0.0);
  }
}

// The same as visit_numbers without wider types.
template <class Visit>
auto visit_lines(Numbers numbers, Visit&& visit) {
  return visit_numbers(numbers, [&](auto type) -> int {
    using Type = decltype(type);
    if constexpr (std::is_same_v<Type, HalvesInFloat> || std::is_same_v<Type, BrainHalvesInFloat> ||
                  std::is_same_v<Type, FloatsInDouble>)
      return -1;  // the host never selects it
    else
      return visit(type);
  });
}

}  // namespace gather::cuda
