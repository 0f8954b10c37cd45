#pragma once

#include <utility>

#include "cpu/tiers/tier.hpp"
#include "cpu/tiers/vectors.hpp"

// Copies elements that are not contiguous to contiguous ones, by shuffles of vectors. Part of body.hpp.
namespace gather::cpu {
namespace {

template <class T>
constexpr int64_t elements_of_register = Lanes::register_bytes / int64_t{sizeof(T)};

template <class V, size_t... i>
GATHER_INLINE V every_second(V a, V b, std::index_sequence<i...>) {
  return __builtin_shufflevector(a, b, 2 * i...);
}

template <class V, size_t... i>
GATHER_INLINE V reversed(V v, std::index_sequence<i...>) {
  return __builtin_shufflevector(v, v, sizeof...(i) - 1 - i...);
}

// Copies every second element. Returns the number of elements that it has copied, which is less than `count`. It reads the
// elements between them, but none after the last one.
template <class T>
GATHER_INLINE int64_t copy_every_second(char* to, const char* from, int64_t count) {
  constexpr int64_t n = elements_of_register<T>, bytes = Lanes::register_bytes;
  int64_t i = 0;
  for (; i + n < count; i += n, to += bytes, from += 2 * bytes) {
    const auto a = load_numbers<T, n>(from), b = load_numbers<T, n>(from + bytes);
    store_numbers(to, every_second(a, b, std::make_index_sequence<size_t{n}>()));
  }
  return i;
}

// Copies elements from the one at `from` to lower addresses. Returns the number of elements that it has copied.
template <class T>
GATHER_INLINE int64_t copy_reversed(char* to, const char* from, int64_t count) {
  constexpr int64_t n = elements_of_register<T>, bytes = Lanes::register_bytes;
  int64_t i = 0;
  for (from -= bytes - int64_t{sizeof(T)}; i + n <= count; i += n, to += bytes, from -= bytes) {
    store_numbers(to, reversed(load_numbers<T, n>(from), std::make_index_sequence<size_t{n}>()));
  }
  return i;
}

// Copies elements that are `stride` bytes apart. Returns the number of elements that it has copied. It copies none if no
// shuffle has this stride.
template <class T>
GATHER_INLINE int64_t copy_strided(char* to, const char* from, int64_t stride, int64_t count) {
  constexpr int64_t bytes = sizeof(T);
  if (stride == 2 * bytes) return copy_every_second<T>(to, from, count);
  return stride == -bytes ? copy_reversed<T>(to, from, count) : 0;
}

}  // namespace
}  // namespace gather::cpu
