#pragma once

#include <cmath>
#include <vector>

#include "scatter_oracle.hpp"

// A slow and simple model of gth_scatter_positions. It shares no code with the library.
namespace oracle {

// Returns true if an update replaces the element that has been the largest or smallest.
inline bool replaces(int32_t reduction, int32_t dtype, const char* update, const char* best) {
  const bool is_max = reduction == GTH_REDUCTION_MAX;
  if (is_float(dtype)) {
    const double a = decode_float(dtype, update), b = decode_float(dtype, best);
    return std::isnan(a) ? !std::isnan(b) : is_max ? a > b : a < b;
  }
  const bool is_bool = dtype == GTH_DTYPE_BOOL;
  const Wide a = is_bool ? *update != 0 : load(update, dtype);
  const Wide b = is_bool ? *best != 0 : load(best, dtype);
  return is_max ? a > b : a < b;
}

// Returns the positions of a valid request, in row-major order of the target.
inline std::vector<int64_t> positions_of(const ScatterProblem& problem) {
  Answer ignored;
  // For each byte of the target at which an element begins.
  std::vector<int64_t> held(problem.params.memory.size(), -1);
  std::vector<const char*> best(held.size());
  int64_t position = 0;
  for_each_element(problem.out, [&](int64_t from, const Shape& at) {
    const char* const selected =
        problem.is_elements ? find_element(problem, at, &ignored) : find_source(problem, at, &ignored);
    const int64_t element = position++;
    if (!selected) return;
    const auto offset = static_cast<size_t>(selected - problem.params.memory.data());
    const char* const update = problem.out.memory.data() + from;
    if (!best[offset] && !problem.starts_with_update) best[offset] = selected;
    if (best[offset] && !replaces(problem.reduction, problem.params.dtype, update, best[offset])) return;
    best[offset] = update;
    held[offset] = element;
  });
  std::vector<int64_t> positions;
  for_each_element(problem.params,
                   [&](int64_t at, const Shape&) { positions.push_back(held[static_cast<size_t>(at)]); });
  return positions;
}

}  // namespace oracle
