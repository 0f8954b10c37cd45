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

// Checks the size of the caller's struct, its kind, and that borders are not NULL if there are shards. *out refers to `given` or to `room`.
int32_t read_shards(const gth_shards* given, gth_shards* room, const gth_shards** out, const Error& error);

// Checks the numbers and the borders of shards.
int32_t resolve_shards(const gth_shards& given, Shards* out, const Error& error);

}  // namespace gather::core
