#pragma once

#include <cstring>
#include <utility>

#include "cpu/tiers/tier.hpp"
#include "cpu/tiers/vectors.hpp"

// Copies elements that are not contiguous to contiguous ones, by shuffles of vectors. Part of body.hpp.
namespace gather::cpu {
namespace {

// The elements first, first + 2 and so on of two vectors. `first` is 0 or 1.
template <size_t first, class V, size_t... i>
GATHER_INLINE V every_second(V a, V b, std::index_sequence<i...>) {
  return __builtin_shufflevector(a, b, first + 2 * i...);
}

template <class V, size_t... i>
GATHER_INLINE V reversed(V v, std::index_sequence<i...>) {
  return __builtin_shufflevector(v, v, sizeof...(i) - 1 - i...);
}

// Loads 2 * n elements and stores n of them.
template <class T, int64_t n, size_t first>
GATHER_INLINE void copy_half(char* to, const char* from) {
  constexpr int64_t bytes = n * int64_t{sizeof(T)};
  const auto a = load_numbers<T, n>(from), b = load_numbers<T, n>(from + bytes);
  store_numbers(to, every_second<first>(a, b, std::make_index_sequence<size_t{n}>()));
}

// Copies every second element, n at a time. Some of the last n may be copied twice. Returns false if there are too few.
// It reads the elements between them, but none before the first one or after the last one.
template <class T, int64_t n>
GATHER_INLINE bool copy_every_second(char* to, const char* from, int64_t count) {
  constexpr int64_t size = sizeof(T);
  if (count <= n) return false;
  for (int64_t i = 0; i + n < count; i += n) copy_half<T, n, 0>(to + i * size, from + 2 * i * size);
  const int64_t last = count - n;
  copy_half<T, n, 1>(to + last * size, from + (2 * last - 1) * size);
  return true;
}

// Copies elements from the one at `from` to lower addresses, n at a time. Some of the last n may be copied twice.
// Returns false if there are fewer than n.
template <class T, int64_t n>
GATHER_INLINE bool copy_reversed(char* to, const char* from, int64_t count) {
  constexpr int64_t size = sizeof(T);
  if (count < n) return false;
  const auto copy = [&](int64_t i) __attribute__((always_inline)) {
    const auto numbers = load_numbers<T, n>(from - (i + n - 1) * size);
    store_numbers(to + i * size, reversed(numbers, std::make_index_sequence<size_t{n}>()));
  };
  for (int64_t i = 0; i + n < count; i += n) copy(i);
  copy(count - n);
  return true;
}

// Copies elements that are `stride` bytes apart. Returns false if they are too few, or if neither memcpy nor a shuffle
// copies elements of this stride.
template <class T>
GATHER_INLINE bool copy_strided(char* to, const char* from, int64_t stride, int64_t count) {
  constexpr int64_t size = sizeof(T), n = Lanes::register_bytes / size, half = n > 2 ? n / 2 : n;
  if (stride == size) {
    std::memcpy(to, from, static_cast<size_t>(count * size));
    return true;
  }
  if (stride == 2 * size)
    return copy_every_second<T, n>(to, from, count) || copy_every_second<T, half>(to, from, count);
  return stride == -size && (copy_reversed<T, n>(to, from, count) || copy_reversed<T, half>(to, from, count));
}

}  // namespace
}  // namespace gather::cpu
