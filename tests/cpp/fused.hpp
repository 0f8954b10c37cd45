#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

// Sums of products, for oracles.

// Multiplies and adds with one rounding. fmaf of some C libraries rounds twice.
inline float fused(float a, float b, float c) {
  const double product = double{a} * b;  // exact
  double sum = product + c;
  if (!std::isfinite(sum)) return static_cast<float>(sum);
  const double rest = sum - product, error = (product - (sum - rest)) + (c - rest);
  int64_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  // An inexact sum is rounded to odd. Then the rounding to float is that of the exact sum.
  if (error != 0 && bits % 2 == 0) bits += (error > 0) == (sum > 0) ? 1 : -1;
  std::memcpy(&sum, &bits, sizeof sum);
  return static_cast<float>(sum);
}

// Adds a product as gather_bags and its gradients do: only float32 has one rounding.
template <class T>
T add_product(T sum, T factor, T value) {
  if constexpr (std::is_same_v<T, float>) return fused(factor, value, sum);
  const volatile T product = factor * value;
  return sum + product;
}
