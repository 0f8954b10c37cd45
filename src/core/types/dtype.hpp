#pragma once

#include <cstdint>

#include "core/types/reduction.hpp"

namespace gather::core {

struct DtypeInfo {
  int32_t dtype;
  int32_t bytes;  // 0 for strings
  const char* name;
  bool is_index;     // It is one of the eight integer types.
  Number number;     // the kind of number for reductions
  uint64_t fill[2];  // the bytes that GTH_FILL_BY_DTYPE writes
};

// Returns nullptr if the number is no dtype.
const DtypeInfo* find_dtype(int32_t dtype);

// Returns a name such as "float32", or a fixed text if the number is no dtype.
const char* dtype_name(int32_t dtype);

}  // namespace gather::core
