#include "cpu/hot_rows.hpp"

#include <algorithm>

#include "cpu/indices.hpp"

namespace gather::cpu {

// A core caches about ten thousand rows. In a sample of 256 from that many rows, three duplicates are expected. In a
// sample from a million rows, none is expected.
bool has_hot_rows(const Job& job) {
  constexpr int64_t sampled = 256, max_duplicates = 2;
  const SizedLoop& line = job.copying.line;
  if (line.extent < sampled) return false;
  const int64_t distance = line.extent / sampled;
  int64_t rows[sampled];
  BadTuple bad;
  const Resolved resolved =
      resolve(job.plan, job.indices, wrapping_multiply(distance, line.indices), sampled, rows, &bad);
  if (resolved == Resolved::bad) return false;
  for (int64_t i = 0; i < sampled; ++i) {
    if (rows[i] != no_row) rows[i] += wrapping_multiply(i, wrapping_multiply(distance, line.table));
  }
  std::sort(rows, rows + sampled);
  int64_t duplicates = 0;
  for (int64_t i = 1; i < sampled; ++i) duplicates += rows[i] == rows[i - 1];
  return duplicates > max_duplicates;
}

}  // namespace gather::cpu
