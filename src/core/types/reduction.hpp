#pragma once

#include <cstdint>

#include "gather/gather.h"

// The way in which a scatter combines an update with the element in the target.
namespace gather::core {

// The arithmetic type of an element.
enum class Number : uint8_t { none, boolean, signed_integer, unsigned_integer, floating, brain_floating, complex };

inline bool is_floating(Number number) { return number == Number::floating || number == Number::brain_floating; }

// Returns true if a reduction (GTH_REDUCTION_*) is defined for elements of this type.
inline bool is_reducible(Number number, int32_t reduction) {
  if (reduction == GTH_REDUCTION_NONE) return true;
  if (number == Number::complex) return reduction == GTH_REDUCTION_ADD || reduction == GTH_REDUCTION_MUL;
  return number != Number::none;
}

// Returns the name of a reduction, such as "add". Precondition: it is not GTH_REDUCTION_NONE.
inline const char* reduction_name(int32_t reduction) {
  switch (reduction) {
    case GTH_REDUCTION_ADD: return "add";
    case GTH_REDUCTION_MUL: return "mul";
    case GTH_REDUCTION_MAX: return "max";
    default: return "min";
  }
}

// A bag without ids has the value that its pool begins with, such as -infinity for max. Like GTH_EMPTY_*.
constexpr int32_t start_if_empty = GTH_EMPTY_ERROR + 1;

}  // namespace gather::core
