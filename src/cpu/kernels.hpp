#pragma once

#include <cstdint>

#include "core/plan.hpp"
#include "cpu/indices.hpp"
#include "cpu/rows.hpp"

namespace gather::cpu {

// What a plan is run by, chosen once for it. A tier of instructions is another column of this table.
struct Kernels {
  // Whether n tuples under bounds = error, fill or skip are all good, found out quickly.
  bool (*inside)(const core::Plan& plan, const char* tuples, int64_t stride, int64_t n);
  // Tuples to offsets: resolve() of indices.hpp.
  Resolved (*resolve)(const core::Plan& plan, const char* tuples, int64_t stride, int64_t n, int64_t* offsets,
                      BadTuple* bad);
  CopyRows copy;
  // Writes the element that bounds = fill gives over a row.
  void (*fill)(const core::Plan& plan, char* out);
};

Kernels choose_kernels(const core::Plan& plan);

}  // namespace gather::cpu
