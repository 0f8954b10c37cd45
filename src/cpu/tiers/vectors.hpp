#pragma once

#include <cstdint>

#include "cpu/tiers/tier.hpp"

// Vectors of n numbers of any type. A vector of 1 is the number itself.
namespace gather::cpu {
namespace {

template <class T, int64_t n>
struct VectorOf {
  typedef T type __attribute__((vector_size(static_cast<size_t>(n) * sizeof(T))));
};

template <class T>
struct VectorOf<T, 1> {
  using type = T;
};

template <class T, int64_t n>
using Numbers = typename VectorOf<T, n>::type;

// Loads numbers from any address, and stores them.
template <class T, int64_t n>
GATHER_INLINE Numbers<T, n> load_numbers(const char* at) {
  Numbers<T, n> numbers;
  __builtin_memcpy(&numbers, at, sizeof numbers);
  return numbers;
}

template <class V>
GATHER_INLINE void store_numbers(char* at, V numbers) {
  __builtin_memcpy(at, &numbers, sizeof numbers);
}

// Converts each number. The conversion of integers keeps the low bits.
template <class T, int64_t n, class V>
GATHER_INLINE Numbers<T, n> convert_numbers(V numbers) {
  if constexpr (n == 1) {
    return static_cast<T>(numbers);
  } else {
    return __builtin_convertvector(numbers, Numbers<T, n>);
  }
}

template <class To, class From>
GATHER_INLINE To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "the sizes must be equal");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace
}  // namespace gather::cpu
