#pragma once

#include <cstdint>

#include "core/base/checked.hpp"
#include "gather/gather.h"

namespace gather::core {

// A size or stride of a plan. Its value is `factor`, or factor * n if by_n is 1. n is the open extent of the plan.
struct Scaled {
  int64_t factor;
  int64_t by_n;  // 0 or 1

  int64_t at(int64_t n) const { return by_n ? factor * n : factor; }
  bool is(int64_t value) const { return factor == value && !by_n; }
  bool operator==(const Scaled& other) const { return factor == other.factor && (by_n == other.by_n || factor == 0); }
};

inline Scaled fixed(int64_t value) { return {value, 0}; }

inline Scaled extent_of(int64_t extent) { return extent == GTH_OPEN ? Scaled{1, 1} : Scaled{extent, 0}; }

// Returns the product. At most one extent of a plan is open, so no product contains n twice. Precondition: it fits
// int64.
inline Scaled times(const Scaled& a, const Scaled& b) { return {a.factor * b.factor, a.by_n | b.by_n}; }

// Computes the product. Returns false if it does not fit int64.
inline bool multiply(const Scaled& a, const Scaled& b, Scaled* out) {
  out->by_n = a.by_n | b.by_n;
  return multiply(a.factor, b.factor, &out->factor);
}

}  // namespace gather::core
