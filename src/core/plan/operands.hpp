#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/plan/plan.hpp"

// The memory of one run of a plan.
namespace gather::core {

struct Pointers {
  const char* table;
  const char* indices;
  char* rows;
};

// Whose memory the output is. A caller's is as it was where a run fails; of ours nobody sees it then.
enum class Output : uint8_t { callers, ours };

// Bytes from each data pointer on.
struct Extents {
  int64_t table, indices, rows;
};

// The open extent of a run: an extent that keeps all sizes inside int64 and inside what is described, or GTH_OPEN for a
// plan without one.
int32_t check_open_extent(const Plan& plan, int64_t n, const Error& error);

// What a run with this open extent, which has been checked, reads and writes at most.
Extents extents_of(const Plan& plan, int64_t n);

// What a run can still get wrong: the open extent, memory smaller than it reads and writes (given: how much there is;
// nullptr: the caller answers for it), NULL and overlap.
int32_t check_run(const Plan& plan, const Pointers& pointers, int64_t n, const Extents* given, const Error& error);

// As check_run, for a run that only validates indices. given: the bytes of memory of indices; nullptr: the caller is
// responsible.
int32_t check_judging(const Plan& plan, const char* indices, int64_t n, const int64_t* given, const Error& error);

}  // namespace gather::core
