#pragma once

#include <cstdint>

#include "cpu/indices.hpp"
#include "cpu/job.hpp"

namespace gather::cpu {

// A block of resolved tuples. It is reused while the outer loops repeat its tuples.
struct ResolvedBlock {
  const char* tuples = nullptr;
  int64_t count = 0;
  Resolved resolved = Resolved::all;
  int64_t offsets[block_tuples];

  bool matches(const char* new_tuples, int64_t new_count) const { return tuples == new_tuples && count == new_count; }

  // Returns false if an index has become invalid after pass 1.
  bool update(const Job& job, const char* new_tuples, int64_t new_count) {
    return matches(new_tuples, new_count) || resolve(job, new_tuples, new_count);
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
