#pragma once

#include <cstdint>

// This header contains only types, because the kernel tiers include it.
namespace gather::core {

// The integer type of indices. The order is that of index_type_of().
enum class IndexType : uint8_t { int8, int16, int32, int64, uint8, uint16, uint32, uint64 };

// The effect of an index out of bounds.
enum class Outside : uint8_t {
  refused,  // The call fails.
  skipped,  // The tuple selects no row.
  clamped,  // The nearest valid index is used.
  modulo,   // The index modulo the size is used, in [0, size).
};

}  // namespace gather::core
