#pragma once

#include <cstdint>

#include "core/types/reduction.hpp"

namespace gather::core {

struct DtypeInfo {
  int32_t dtype;
  int32_t bytes;  // 0 for strings
  const char* name;
  bool is_index;     // one of the eight integer types
  Number number;     // what reductions take it for
  uint64_t fill[2];  // the memory image that GTH_FILL_BY_DTYPE writes
};

// nullptr for numbers that are no dtype.
const DtypeInfo* find_dtype(int32_t dtype);

// "float32"; a fixed text for numbers that are no dtype.
const char* dtype_name(int32_t dtype);

}  // namespace gather::core
