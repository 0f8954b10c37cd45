#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "elements_oracle.hpp"

// A slow and simple scatter. Each element of the updates, in row-major order, is combined with the element of the
// target that the gather of the same indices would read. It shares no code with the library. Numbers are decoded,
// computed as double or 128-bit integers, and rounded by the definition of their format.
namespace oracle {

// A normalised scatter. params is the target, and out contains the updates.
struct ScatterProblem : ElementsProblem {
  bool is_elements = false;
  int32_t reduction = GTH_REDUCTION_NONE;
  bool in_float32 = false, in_float64 = false;
  bool starts_with_update = false;

  bool reduces() const { return reduction != GTH_REDUCTION_NONE; }
};

// A 16-bit float with the given bits of exponent and mantissa.
struct SmallFloat {
  int exponent_bits, mantissa_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }

  double decode(uint16_t bits) const {
    const int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
    const int mantissa = bits & ((1 << mantissa_bits) - 1);
    const double sign = bits >> 15 ? -1.0 : 1.0;
    if (exponent == (1 << exponent_bits) - 1) return sign * (mantissa ? NAN : INFINITY);
    if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias() - mantissa_bits);
    return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias() - mantissa_bits);
  }

  // Returns the nearest value. Ties round to even.
  uint16_t encode(double value) const {
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const int special = (1 << exponent_bits) - 1;
    if (std::isnan(value)) return static_cast<uint16_t>(special << mantissa_bits | 1);
    const double size = std::fabs(value);
    if (size == 0) return sign;
    if (std::isinf(size)) return static_cast<uint16_t>(sign | special << mantissa_bits);
    int exponent = 0;
    std::frexp(size, &exponent);
    exponent = std::max(exponent - 1, 1 - bias());
    const double quantum = std::ldexp(1.0, exponent - mantissa_bits);
    const double rounded = std::nearbyint(size / quantum) * quantum;  // in the default rounding mode
    if (rounded >= std::ldexp(1.0, bias() + 1)) return static_cast<uint16_t>(sign | special << mantissa_bits);
    // A mantissa with its leading one adds 1 to the exponent. Without it, the number is denormal and has exponent 0.
    const int below = (exponent + bias() - 1) << mantissa_bits;
    return static_cast<uint16_t>(sign | (below + static_cast<int>(rounded / quantum)));
  }
};

inline bool is_complex(int32_t dtype) { return dtype == GTH_DTYPE_COMPLEX64 || dtype == GTH_DTYPE_COMPLEX128; }
inline bool is_half(int32_t dtype) { return dtype == GTH_DTYPE_FLOAT16 || dtype == GTH_DTYPE_BFLOAT16; }
inline bool is_float(int32_t dtype) {
  return is_half(dtype) || dtype == GTH_DTYPE_FLOAT32 || dtype == GTH_DTYPE_FLOAT64;
}

inline const SmallFloat& format_of(int32_t dtype) {
  static const SmallFloat half{5, 10}, brain{8, 7};
  return dtype == GTH_DTYPE_FLOAT16 ? half : brain;
}

template <class T>
T read_as(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void write_as(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

inline double decode_float(int32_t dtype, const char* at) {
  if (is_half(dtype)) return format_of(dtype).decode(read_as<uint16_t>(at));
  return dtype == GTH_DTYPE_FLOAT32 ? double{read_as<float>(at)} : read_as<double>(at);
}

inline void encode_float(int32_t dtype, double value, char* at) {
  if (is_half(dtype)) return write_as(at, format_of(dtype).encode(value));
  if (dtype == GTH_DTYPE_FLOAT32) return write_as(at, static_cast<float>(value));
  write_as(at, value);
}

template <class T>
T reduced(int32_t reduction, T a, T b) {
  switch (reduction) {
    case GTH_REDUCTION_MEAN:
    case GTH_REDUCTION_ADD: return a + b;
    case GTH_REDUCTION_MUL: return a * b;
    case GTH_REDUCTION_MAX: return b > a ? b : a;
    case GTH_REDUCTION_MIN: return b < a ? b : a;
    default: return b;
  }
}

__extension__ typedef unsigned __int128 WideBits;

// Returns the lowest bits of integer sums and products.
inline Wide reduced_integer(int32_t reduction, Wide a, Wide b) {
  const bool wraps = reduction != GTH_REDUCTION_MAX && reduction != GTH_REDUCTION_MIN;
  if (!wraps) return reduced(reduction, a, b);
  return static_cast<Wide>(reduced(reduction, static_cast<WideBits>(a), static_cast<WideBits>(b)));
}

inline double reduced_float(int32_t reduction, double a, double b) {
  const bool compares = reduction == GTH_REDUCTION_MAX || reduction == GTH_REDUCTION_MIN;
  if (compares && (std::isnan(a) || std::isnan(b))) return NAN;
  return reduced(reduction, a, b);
}

template <class T>
void reduce_complex(int32_t reduction, char* at, const char* update) {
  const T a = read_as<T>(at), b = read_as<T>(at + sizeof(T));
  const T c = read_as<T>(update), d = read_as<T>(update + sizeof(T));
  const volatile T ac = a * c, bd = b * d, ad = a * d,
                   bc = b * c;  // volatile, so that each product is rounded and no multiply-add is used
  const bool adds = reduction != GTH_REDUCTION_MUL;
  write_as<T>(at, adds ? a + c : ac - bd);
  write_as<T>(at + sizeof(T), adds ? b + d : ad + bc);
}

inline void reduce_element(int32_t reduction, int32_t dtype, char* at, const char* update) {
  const size_t item = static_cast<size_t>(dtype % 256) / 8;
  if (reduction == GTH_REDUCTION_NONE) {
    std::memcpy(at, update, item);
  } else if (dtype == GTH_DTYPE_COMPLEX64) {
    reduce_complex<float>(reduction, at, update);
  } else if (dtype == GTH_DTYPE_COMPLEX128) {
    reduce_complex<double>(reduction, at, update);
  } else if (is_float(dtype)) {
    encode_float(dtype, reduced_float(reduction, decode_float(dtype, at), decode_float(dtype, update)), at);
  } else if (dtype == GTH_DTYPE_BOOL) {
    const int sum = (*at != 0) + (*update != 0);
    const bool any = reduction == GTH_REDUCTION_ADD || reduction == GTH_REDUCTION_MAX;
    *at = any ? sum > 0 : sum == 2;
  } else {
    const int64_t result = static_cast<int64_t>(reduced_integer(reduction, load(at, dtype), load(update, dtype)));
    std::memcpy(at, &result, item);
  }
}

// Writes the number that an element is combined with if its reduction begins with the update.
inline void write_identity(int32_t reduction, int32_t dtype, char* at) {
  const bool is_max = reduction == GTH_REDUCTION_MAX, is_extreme = is_max || reduction == GTH_REDUCTION_MIN;
  const size_t item = static_cast<size_t>(dtype % 256) / 8;
  std::memset(at, 0, item);
  const double number = reduction == GTH_REDUCTION_MUL ? 1 : !is_extreme ? 0 : is_max ? -INFINITY : INFINITY;
  if (is_float(dtype)) return encode_float(dtype, number, at);
  if (dtype == GTH_DTYPE_COMPLEX64) return write_as(at, static_cast<float>(number));
  if (dtype == GTH_DTYPE_COMPLEX128) return write_as(at, number);
  if (!is_extreme || dtype == GTH_DTYPE_BOOL) {
    at[0] = reduction == GTH_REDUCTION_MUL || reduction == GTH_REDUCTION_MIN;
    return;
  }
  const bool is_signed = dtype < 256;
  if (!is_max || is_signed) std::memset(at, is_max ? 0 : -1, item);
  if (is_signed) at[item - 1] = is_max ? '\x80' : '\x7f';
}

// Divides an element. Quotients of integers are rounded down.
inline void divide_element(int32_t dtype, int64_t divisor, char* at) {
  const size_t item = static_cast<size_t>(dtype % 256) / 8;
  if (is_complex(dtype)) {
    const int32_t part = dtype == GTH_DTYPE_COMPLEX64 ? GTH_DTYPE_FLOAT32 : GTH_DTYPE_FLOAT64;
    divide_element(part, divisor, at);
    return divide_element(part, divisor, at + item / 2);
  }
  if (is_float(dtype)) return encode_float(dtype, decode_float(dtype, at) / static_cast<double>(divisor), at);
  const Wide number = load(at, dtype);
  Wide quotient = number / divisor;
  if (number < 0 && quotient * divisor != number) --quotient;
  const int64_t result = static_cast<int64_t>(quotient);
  std::memcpy(at, &result, item);
}

// No std::set is used, because the memory sanitizer does not detect writes of its code outside headers.
struct ScatterAnswer : Answer {
  std::vector<char> touched;  // for each byte of the memory, true if a written element starts there; empty on an error
};

// Computes the target after the call.
inline ScatterAnswer solve_scatter(const ScatterProblem& problem) {
  ScatterAnswer answer;
  answer.memory = problem.params.memory;
  answer.touched.resize(answer.memory.size());
  const Shape tuples = problem.is_elements ? problem.indices.shape : tuples_of(problem);
  find_bad_tuple(problem, tuples, &answer, [&](const Shape& at, Answer* found) {
    problem.is_elements ? find_element(problem, at, found) : find_source(problem, at, found);
  });
  const bool is_mean = problem.reduction == GTH_REDUCTION_MEAN, is_wide = problem.in_float32 || problem.in_float64;
  const int32_t dtype = problem.params.dtype;
  const int64_t of_target = problem.starts_with_update ? 0 : 1;
  std::vector<double> sums(is_wide ? answer.memory.size() : 0);
  std::vector<int64_t> counts(is_mean ? answer.memory.size() : 0, of_target);
  for_each_element(problem.out, [&](int64_t from, const Shape& at) {
    const char* selected = problem.is_elements ? find_element(problem, at, &answer) : find_source(problem, at, &answer);
    if (!selected) return;
    const auto offset = static_cast<size_t>(selected - problem.params.memory.data());
    const char* update = problem.out.memory.data() + from;
    char& is_touched = answer.touched[offset];
    char* const element = answer.memory.data() + offset;
    if (!is_touched && problem.starts_with_update && problem.reduces()) {
      write_identity(problem.reduction, dtype, element);
    }
    if (is_wide) {
      if (!is_touched) sums[offset] = decode_float(dtype, element);
      const double sum = reduced_float(problem.reduction, sums[offset], decode_float(dtype, update));
      sums[offset] = problem.in_float32 ? static_cast<double>(static_cast<float>(sum)) : sum;
    } else {
      reduce_element(problem.reduction, dtype, element, update);
    }
    if (is_mean) ++counts[offset];
    is_touched = 1;
  });
  for (size_t offset = 0; offset < answer.touched.size(); ++offset) {
    char* const element = answer.memory.data() + offset;
    if (!answer.touched[offset]) continue;
    if (is_wide) {
      const double sum = is_mean ? sums[offset] / static_cast<double>(counts[offset]) : sums[offset];
      encode_float(dtype, problem.in_float32 ? static_cast<double>(static_cast<float>(sum)) : sum, element);
    } else if (is_mean) {
      divide_element(dtype, counts[offset], element);
    }
  }
  if (answer.position == INT64_MAX || problem.bounds == GTH_BOUNDS_SKIP) return answer;
  answer.status = GTH_E_INDEX;
  answer.memory = problem.params.memory;
  answer.touched.clear();
  return answer;
}

// The bit pattern of a NaN is unspecified. If both values are NaN, `at` is set to the expected pattern. A complex
// number is two floats.
inline void take_nans(int32_t dtype, char* at, const char* expected) {
  if (is_complex(dtype)) {
    const int32_t part = dtype == GTH_DTYPE_COMPLEX64 ? GTH_DTYPE_FLOAT32 : GTH_DTYPE_FLOAT64;
    const auto bytes = gth_dtype_size(part);
    take_nans(part, at, expected);
    take_nans(part, at + bytes, expected + bytes);
  } else if (std::isnan(decode_float(dtype, at)) && std::isnan(decode_float(dtype, expected))) {
    std::memcpy(at, expected, static_cast<size_t>(gth_dtype_size(dtype)));
  }
}

// Returns true if a target has the expected bytes, except for the bit patterns of NaNs.
inline bool is_same_target(const ScatterProblem& problem, const ScatterAnswer& answer, Bytes found) {
  if (found.size() != answer.memory.size()) return false;
  const int32_t dtype = problem.params.dtype;
  if (problem.reduces() && (is_float(dtype) || is_complex(dtype))) {
    for (size_t offset = 0; offset < answer.touched.size(); ++offset) {
      if (answer.touched[offset]) take_nans(dtype, found.data() + offset, answer.memory.data() + offset);
    }
  }
  return found == answer.memory;
}

}  // namespace oracle
