#pragma once

#include <cstdint>

#include "core/types/reduction.hpp"
#include "gather/gather.h"

namespace gather::core {

struct DtypeInfo {
  int32_t dtype;
  int32_t bytes;  // 0 for strings
  const char* name;
  bool is_index;     // It is one of the eight integer types.
  Number number;     // the kind of number for reductions
  uint64_t fill[2];  // the bytes that GTH_FILL_BY_DTYPE writes
};

// The entries of the dtypes. The first one is that of strings.
extern const DtypeInfo dtypes[];

// The number of the entry by type code of DLPack and by size: 8, 16, 32, 64 and 128 bits. 0 is no dtype. Every call
// without a plan looks up two dtypes. With this table, a look-up needs no search.
struct DtypePlaces {
  static constexpr int32_t codes = GTH_DTYPE_FLOAT8_E8M0FNU / 256 + 1, sizes = 5;

  int8_t of[codes][sizes];
};
extern const DtypePlaces dtype_places;

// Returns nullptr if the number is no dtype. It is inline, because link-time optimisation calls it.
inline const DtypeInfo* find_dtype(int32_t dtype) {
  if (dtype == GTH_DTYPE_STRING) return &dtypes[0];
  const uint32_t code = static_cast<uint32_t>(dtype) >> 8, bits = static_cast<uint32_t>(dtype) & 255;
  if (code >= DtypePlaces::codes || bits < 8 || (bits & (bits - 1)) != 0) return nullptr;
  const int8_t place = dtype_places.of[code][__builtin_ctz(bits) - 3];
  return place == 0 ? nullptr : &dtypes[place];
}

// Returns a name such as "float32", or a fixed text if the number is no dtype.
const char* dtype_name(int32_t dtype);

}  // namespace gather::core
