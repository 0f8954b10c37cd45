#pragma once

#include "cuda/scatter_job.hpp"

// A scatter whose target consists of many lines, such as the columns of a matrix whose rows are selected. No update of one
// line writes another line. So a thread processes the updates of a line in their order, without a sort.
namespace gather::cuda {

// A loop with strides in bytes.
struct LineLoop {
  int64_t extent;
  int64_t target, index, updates;
};

struct LineJob : SmallJob {
  static constexpr int most_line_loops = 8;

  char* target;
  const char* updates;
  int64_t lines;
  int32_t line_loops;
  Numbers numbers;    // not widened
  int32_t reduction;  // GTH_REDUCTION_*
  bool is_validated;  // indices have been validated
  LineLoop walk;      // the tuples of a line
  LineLoop line[most_line_loops];
};

}  // namespace gather::cuda
