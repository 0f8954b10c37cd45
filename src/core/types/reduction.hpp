#pragma once

#include <cstdint>

#include "gather/gather.h"

// What a scatter does with a row that is there already.
namespace gather::core {

// What an element is to arithmetic.
enum class Number : uint8_t { none, boolean, signed_integer, unsigned_integer, floating, brain_floating, complex };

// Whether a reduction (GTH_REDUCTION_*) is defined for elements of a kind.
inline bool is_reducible(Number number, int32_t reduction) {
  if (reduction == GTH_REDUCTION_NONE) return true;
  if (number == Number::complex) return reduction == GTH_REDUCTION_ADD || reduction == GTH_REDUCTION_MUL;
  return number != Number::none;
}

// "add"; every dtype and every definition has none, so that nobody asks for its name.
inline const char* reduction_name(int32_t reduction) {
  switch (reduction) {
    case GTH_REDUCTION_ADD: return "add";
    case GTH_REDUCTION_MUL: return "mul";
    case GTH_REDUCTION_MAX: return "max";
    default: return "min";
  }
}

}  // namespace gather::core
