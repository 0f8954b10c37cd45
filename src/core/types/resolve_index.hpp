#pragma once

#include <cstdint>

#include "core/types/index_type.hpp"
#include "gather/gather.h"

// Defines which entry of a dim an index value selects. The vector code in cpu/tiers/tuples.hpp is the only other
// implementation.
#ifdef __CUDACC__
#define GATHER_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define GATHER_HOST_DEVICE
#endif

namespace gather::core {

// The way in which an index value is read. A uint64 value is passed as its bit pattern. is_signed is then false, and
// the value counts as non-negative.
struct IndexPolicy {
  bool wraps;      // A negative value counts from the end, once. Then is_signed is true.
  bool is_signed;  // The value may be negative.
  Outside outside;
};

constexpr int64_t no_index = -1;

// Returns the meaning of a GTH_BOUNDS_* value for an index.
GATHER_HOST_DEVICE constexpr Outside outside_of(int32_t bounds) {
  switch (bounds) {
    case GTH_BOUNDS_FILL:
    case GTH_BOUNDS_SKIP: return Outside::skipped;
    case GTH_BOUNDS_CLAMP: return Outside::clamped;
    case GTH_BOUNDS_MODULO: return Outside::modulo;
    default: return Outside::refused;
  }
}

// bounds: a GTH_BOUNDS_* value.
GATHER_HOST_DEVICE constexpr IndexPolicy policy_of(bool wraps, bool is_signed, int32_t bounds) {
  return {wraps && is_signed, is_signed, outside_of(bounds)};
}

// Returns true if every index of a dim selects an entry, unless the dim is empty.
GATHER_HOST_DEVICE constexpr bool is_total(Outside outside) {
  return outside == Outside::clamped || outside == Outside::modulo;
}

// Returns true if a value is in [0, size). One comparison is enough, because a negative value is a large unsigned
// number.
GATHER_HOST_DEVICE constexpr bool is_in_range(int64_t value, int64_t size) {
  return static_cast<uint64_t>(value) < static_cast<uint64_t>(size);
}

// Returns the remainder in [0, size). Precondition: size > 0.
GATHER_HOST_DEVICE constexpr int64_t floor_modulo(int64_t value, int64_t size, bool is_signed) {
  if (!is_signed) return static_cast<int64_t>(static_cast<uint64_t>(value) % static_cast<uint64_t>(size));
  const int64_t remainder = value % size;
  return remainder < 0 ? remainder + size : remainder;
}

// Returns the entry that replaces an index out of range, or no_index.
GATHER_HOST_DEVICE constexpr int64_t replace_index(int64_t value, int64_t size, IndexPolicy policy) {
  if (size <= 0) return no_index;
  if (policy.outside == Outside::clamped) return value < 0 && policy.is_signed ? 0 : size - 1;
  if (policy.outside == Outside::modulo) return floor_modulo(value, size, policy.is_signed);
  return no_index;
}

// Returns the value after a negative value is counted from the end.
GATHER_HOST_DEVICE constexpr int64_t wrap_index(int64_t value, int64_t size, IndexPolicy policy) {
  return policy.wraps && value < 0 ? value + size : value;
}

// Returns the entry in [0, size) that a value selects, or no_index.
GATHER_HOST_DEVICE constexpr int64_t resolve_index(int64_t value, int64_t size, IndexPolicy policy) {
  const int64_t index = wrap_index(value, size, policy);
  return is_in_range(index, size) ? index : replace_index(index, size, policy);
}

}  // namespace gather::core
