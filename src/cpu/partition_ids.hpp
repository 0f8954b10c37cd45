#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/meaning/shards.hpp"
#include "core/plan/plan.hpp"
#include "cpu/executor.hpp"
#include "cpu/kernels.hpp"

// Partitions ids by shard. The ids of a shard keep their order.
namespace gather::cpu {

// The caller's memory for the result of n ids. See gth_parts.
struct PartitionMemory {
  int64_t* counts;
  int64_t* local;
  int64_t* order;  // may be nullptr
  int64_t* place;  // may be nullptr unless once
  int64_t* scratch;
  bool once;
};

// Computes the number of int64 elements of scratch memory for a partition. Returns false if it exceeds int64.
bool scratch_numbers(int64_t n, int64_t shards, bool once, int64_t* numbers);

// Writes the partition of the ids to `memory`. Precondition: `plan` gathers rows of one byte from a table with all rows
// of the shards, so that byte offsets equal row numbers. Returns GTH_OK, GTH_E_INDEX or GTH_E_RACE.
int32_t partition(const core::Plan& plan, const char* indices, int64_t n, const core::Shards& shards,
                  const PartitionMemory& memory, const Executor& executor, const core::Error& error);

}  // namespace gather::cpu
