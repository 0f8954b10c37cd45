#pragma once

#include <cstdint>

namespace gather::cpu {

// Sorts by 8 bits of a key. Elements whose bits are equal keep their order.
template <class T, class Key>
void sort_by_digit(const T* from, int64_t n, int32_t shift, T* to, Key&& key) {
  constexpr uint64_t digits = 256;
  int64_t next[digits] = {};
  const auto digit_of = [&](const T& each) { return static_cast<uint64_t>(key(each)) >> shift & (digits - 1); };
  for (int64_t i = 0; i < n; ++i) ++next[digit_of(from[i])];
  int64_t sum = 0;
  for (int64_t& each : next) {
    const int64_t count = each;
    each = sum;
    sum += count;
  }
  for (int64_t i = 0; i < n; ++i) to[next[digit_of(from[i])]++] = from[i];
}

}  // namespace gather::cpu
