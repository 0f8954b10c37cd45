#pragma once

#include <cstdint>

#include "core/base/error.hpp"

// Which shard a row is in, and where.
namespace gather::core {

struct Shards {
  int32_t kind;  // GTH_SHARDS_*
  int64_t rows, count;
  int64_t divisor;         // of blocks and modulo
  const int64_t* borders;  // of borders
};

// Reads and judges the caller's struct.
int32_t read_shards(const gth_shards* given, Shards* out, const Error& error);

}  // namespace gather::core
