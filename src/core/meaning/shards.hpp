#pragma once

#include <cstdint>

#include "core/base/error.hpp"

// The assignment of rows to shards.
namespace gather::core {

struct Shards {
  int32_t kind;  // GTH_SHARDS_*
  int64_t rows, count;
  int64_t divisor;         // for GTH_SHARDS_BLOCKS and GTH_SHARDS_MODULO
  const int64_t* borders;  // for GTH_SHARDS_BORDERS
};

// Reads and validates the caller's struct.
int32_t read_shards(const gth_shards* given, Shards* out, const Error& error);

}  // namespace gather::core
