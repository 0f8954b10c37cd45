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

// Precondition: neither is negative. Unsigned divisions have less code.
GATHER_SHARED int64_t quotient_of(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) / static_cast<uint64_t>(b));
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
// divide(value, count, is_signed)  the mean of a sum
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
  // Quotients are rounded down. is_signed: the bits are those of a signed number.
  static GATHER_SELDOM T divide(T value, int64_t count, bool is_signed) {
    const int64_t number = static_cast<std::make_signed_t<T>>(value);
    const bool is_negative = is_signed && number < 0;
    const uint64_t dividend =
        is_negative ? ~static_cast<uint64_t>(number) : static_cast<std::make_unsigned_t<T>>(value);
    const uint64_t quotient = dividend / static_cast<uint64_t>(count);
    return static_cast<T>(is_negative ? ~quotient : quotient);
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
  static GATHER_SHARED uint8_t divide(uint8_t value, int64_t, bool) { return value; }
};

template <class T>
struct Floats : Ordered<T> {
  using Stored = T;
  static GATHER_SHARED T load(T stored) { return stored; }
  static GATHER_SHARED T store(T value) { return value; }
  static GATHER_SHARED T add(T a, T b) { return sum_of(a, b); }
  static GATHER_SHARED T mul(T a, T b) { return product_of(a, b); }
  static GATHER_SHARED T divide(T value, int64_t count, bool) { return value / static_cast<T>(count); }
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
  static GATHER_SHARED Value divide(Value value, int64_t count, bool) {
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

// Returns the bytes of a vector of numbers. Those of 1 byte have shorter vectors, because each number of a vector adds
// code to each kernel.
constexpr int bytes_of_vector(int64_t item) { return item == 1 ? 4 : 16; }

// Returns true if long slices of these numbers are combined in vectors. Those of other numbers are rare.
constexpr bool has_long_vectors(Numbers numbers) { return numbers >= Numbers::half && numbers <= Numbers::float64; }

// Calls visit(Type{}) for the type with which kernels combine numbers. Integers are unsigned: invert_signs describes how
// signed ones are compared. Halves are halves in float: a job states whether each sum is rounded.
template <class Visit>
auto visit_merged(Numbers numbers, Visit&& visit) {
  switch (numbers) {
    case Numbers::boolean: return visit(Booleans{});
    case Numbers::int8:
    case Numbers::uint8: return visit(Integers<uint8_t>{});
    case Numbers::int16:
    case Numbers::uint16: return visit(Integers<uint16_t>{});
    case Numbers::int32:
    case Numbers::uint32: return visit(Integers<uint32_t>{});
    case Numbers::int64:
    case Numbers::uint64: return visit(Integers<uint64_t>{});
    case Numbers::half:
    case Numbers::half_in_float: return visit(HalvesInFloat{});
    case Numbers::brain_half:
    case Numbers::brain_half_in_float: return visit(BrainHalvesInFloat{});
    case Numbers::float32: return visit(Floats<float>{});
    case Numbers::float32_in_double: return visit(FloatsInDouble{});
    case Numbers::float64: return visit(Floats<double>{});
    case Numbers::complex64: return visit(Complex<float>{});
    default: return visit(Complex<double>{});
  }
}

// Neighbouring numbers that are added at once. Each sum is atomic.
struct alignas(16) FourFloats {
  float at[4];
};

// Calls visit(Type{}) for numbers of `bytes` bytes. Precondition: they are not widened.
template <int bytes, class Visit>
GATHER_SHARED void visit_of_bytes(Numbers numbers, Visit&& visit) {
  if constexpr (bytes == 1) {
    if (numbers == Numbers::boolean) return visit(Booleans{});
    return numbers == Numbers::int8 ? visit(Integers<int8_t>{}) : visit(Integers<uint8_t>{});
  } else if constexpr (bytes == 2) {
    if (numbers == Numbers::half) return visit(Halves{});
    if (numbers == Numbers::brain_half) return visit(BrainHalves{});
    return numbers == Numbers::int16 ? visit(Integers<int16_t>{}) : visit(Integers<uint16_t>{});
  } else if constexpr (bytes == 4) {
    if (numbers == Numbers::float32) return visit(Floats<float>{});
    return numbers == Numbers::int32 ? visit(Integers<int32_t>{}) : visit(Integers<uint32_t>{});
  } else if constexpr (bytes == 8) {
    if (numbers == Numbers::float64) return visit(Floats<double>{});
    if (numbers == Numbers::complex64) return visit(Complex<float>{});
    return numbers == Numbers::int64 ? visit(Integers<int64_t>{}) : visit(Integers<uint64_t>{});
  } else {
    visit(Complex<double>{});
  }
}

// The same for numbers with atomic operations.
template <int bytes, class Visit>
GATHER_SHARED void visit_atomic(Numbers numbers, Visit&& visit) {
  visit_of_bytes<bytes>(numbers, [&](auto type) {
    using Value = typename decltype(type)::Value;
    if constexpr (std::is_arithmetic_v<Value>) visit(Value{});
  });
}

}  // namespace gather::cuda
