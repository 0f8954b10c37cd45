#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/plan/plan.hpp"
#include "core/meaning/shards.hpp"
#include "cpu/executor.hpp"
#include "cpu/kernels.hpp"

// Ids dealt out to shards, in the order in which they come.
namespace gather::cpu {

// The caller's memory, for n ids. See gth_parts.
struct PartsMemory {
  int64_t* counts;
  int64_t* local;
  int64_t* order;  // may be nullptr
  int64_t* place;  // may be nullptr unless once
  int64_t* scratch;
  bool once;
};

// How many numbers of scratch memory a partition takes. False: more than int64 counts.
bool scratch_numbers(int64_t n, int64_t shards, bool once, int64_t* numbers);

// plan: a gather of rows of one byte, as many as the shards have, so that offsets are rows.
int32_t partition(const core::Plan& plan, const char* indices, int64_t n, const core::Shards& shards,
                  const PartsMemory& parts, const Executor& executor, const core::Error& error);

}  // namespace gather::cpu
