#include "cpu/again.hpp"

#include <algorithm>

#include "cpu/indices.hpp"

namespace gather::cpu {

// Of so many that are drawn from ten thousand rows, as many as a core has in its caches, three are likely to be one that
// was drawn before; of a million rows, none is.
bool comes_again(const Job& job) {
  constexpr int64_t drawn = 256, most_again = 2;
  const Steps& line = job.copying.line;
  if (line.extent < drawn) return false;
  const int64_t apart = line.extent / drawn;
  int64_t rows[drawn];
  BadTuple bad;
  const Resolved resolved = resolve(job.plan, job.indices, steps_of(apart, line.indices), drawn, rows, &bad);
  if (resolved == Resolved::bad) return false;
  for (int64_t i = 0; i < drawn; ++i) {
    if (rows[i] != no_row) rows[i] += steps_of(i, steps_of(apart, line.table));
  }
  std::sort(rows, rows + drawn);
  int64_t again = 0;
  for (int64_t i = 1; i < drawn; ++i) again += rows[i] == rows[i - 1];
  return again > most_again;
}

}  // namespace gather::cpu
