#pragma once

#include <cstdint>

#include "cpu/indices.hpp"
#include "cpu/job.hpp"

namespace gather::cpu {

// A block of resolved tuples, kept as long as the outer loops repeat it.
struct ResolvedBlock {
  const char* tuples = nullptr;
  int64_t count = 0;
  Resolved resolved = Resolved::all;
  int64_t offsets[block_tuples];

  bool holds(const char* new_tuples, int64_t new_count) const { return tuples == new_tuples && count == new_count; }

  // False: an index is bad that was good in pass 1.
  bool update(const Job& job, const char* new_tuples, int64_t new_count) {
    return holds(new_tuples, new_count) || resolve(job, new_tuples, new_count);
  }
  bool resolve(const Job& job, const char* new_tuples, int64_t new_count) {
    BadTuple bad;
    resolved = job.kernels.resolve(job.plan, new_tuples, job.copying.line.indices, new_count, offsets, &bad);
    tuples = new_tuples;
    count = new_count;
    return resolved != Resolved::bad;
  }
};

}  // namespace gather::cpu
