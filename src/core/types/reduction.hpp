#pragma once

#include <cstdint>

#include "gather/gather.h"

// The way in which a scatter combines an update with the element in the target.
namespace gather::core {

// The arithmetic type of an element.
enum class Number : uint8_t { none, boolean, signed_integer, unsigned_integer, floating, brain_floating, complex };

inline bool is_floating(Number number) { return number == Number::floating || number == Number::brain_floating; }

// Returns true if a sum depends on the order of its terms.
inline bool sums_in_order(Number number) { return is_floating(number) || number == Number::complex; }

// Returns true for GTH_POOL_MAX and GTH_POOL_MIN, which have no value for a bag without ids.
inline bool is_extreme_pool(int32_t pool) { return pool == GTH_POOL_MAX || pool == GTH_POOL_MIN; }

// Returns true for GTH_POOL_MEAN and GTH_POOL_SQRTN, which divide the sum of a bag.
inline bool is_dividing_pool(int32_t pool) { return pool == GTH_POOL_MEAN || pool == GTH_POOL_SQRTN; }

// Returns true if a reduction (GTH_REDUCTION_*) is defined for elements of this type.
inline bool is_reducible(Number number, int32_t reduction) {
  if (reduction == GTH_REDUCTION_NONE) return true;
  if (number == Number::complex) return reduction != GTH_REDUCTION_MAX && reduction != GTH_REDUCTION_MIN;
  if (number == Number::boolean) return reduction != GTH_REDUCTION_MEAN;
  return number != Number::none;
}

// Returns the name of a reduction, such as "add". Precondition: it is not GTH_REDUCTION_NONE.
inline const char* reduction_name(int32_t reduction) {
  switch (reduction) {
    case GTH_REDUCTION_ADD: return "add";
    case GTH_REDUCTION_MUL: return "mul";
    case GTH_REDUCTION_MAX: return "max";
    case GTH_REDUCTION_MEAN: return "mean";
    default: return "min";
  }
}

// Returns the bits of 1 as a number of `bytes` bytes.
inline uint64_t one_of(Number number, int64_t bytes) {
  if (number == Number::brain_floating) return 0x3f80;
  if (number != Number::floating && number != Number::complex) return 1;
  return bytes == 2 ? 0x3c00 : bytes == 4 ? 0x3f800000 : 0x3ff0000000000000;
}

// Returns the bits of the largest number of `bytes` bytes, or of the smallest one.
inline uint64_t extreme_of(Number number, int64_t bytes, bool is_largest) {
  const uint64_t sign = uint64_t{1} << (8 * bytes - 1);
  switch (number) {
    case Number::boolean: return is_largest ? 1 : 0;
    case Number::unsigned_integer: return is_largest ? ~uint64_t{0} : 0;
    case Number::signed_integer: return is_largest ? ~sign : sign;
    case Number::brain_floating: return is_largest ? 0x7f80 : 0xff80;
    default: break;
  }
  const uint64_t infinity = bytes == 2 ? 0x7c00 : bytes == 4 ? 0x7f800000 : 0x7ff0000000000000;
  return is_largest ? infinity : infinity | sign;
}

// Returns the bits of the identity of a reduction: 0, 1, or the smallest or largest number. `bytes` is the size of a
// number, and that of a part of a complex number.
inline uint64_t identity_of(Number number, int64_t bytes, int32_t reduction) {
  switch (reduction) {
    case GTH_REDUCTION_MUL: return one_of(number, bytes);
    case GTH_REDUCTION_MAX: return extreme_of(number, bytes, false);
    case GTH_REDUCTION_MIN: return extreme_of(number, bytes, true);
    default: return 0;
  }
}

// A bag without ids has the value that its pool begins with, such as -infinity for max. Like GTH_EMPTY_*.
constexpr int32_t start_if_empty = GTH_EMPTY_ERROR + 1;

}  // namespace gather::core
