#pragma once

#include <cstdint>

#include "core/plan/plan.hpp"
#include "cpu/indices.hpp"
#include "cpu/reduce.hpp"
#include "cpu/tiers/tier.hpp"

namespace gather::cpu {

// How the tuples of a plan select. False: a tier cannot tell, for the sizes or strides are too large for it, or the
// components too many.
bool describe_selection(const core::Plan& plan, Selection* selection);

// What a plan is run by, chosen once for it.
struct Kernels {
  const Tier* tier;
  bool is_quick;  // the tier has an answer for tuples
  Selection selection;
  CopyRows copy;      // of a gather
  TakeRows take;      // ... NULL: tuples are resolved by themselves
  WriteRows update;   // of a scatter
  WriteRows stream;   // ... past the caches; NULL: not worth it
  bool fetches;       // ... whose rows are worth fetching before they are wanted
  TakeRows give;      // ... of short rows, tuples and updates in one go; NULL: there is none
  TakeRows give_far;  // ... that are fetched before

  // Whether n tuples under bounds = error, fill or skip are all good, found out quickly: false may also mean that it
  // cannot be said so quickly.
  bool inside(const char* tuples, int64_t stride, int64_t n) const {
    return is_quick && tier->inside(selection, tuples, stride, n);
  }

  // Resolves n <= block_tuples tuples, of which the first lies at `tuples` and each next one `stride` bytes on, to byte
  // offsets into params. No index is used that has not been judged as it was loaded: another thread that writes to
  // indices meanwhile can change which row is selected, never lead outside params.
  Resolved resolve(const core::Plan& plan, const char* tuples, int64_t stride, int64_t n, int64_t* offsets,
                   BadTuple* bad) const;

  // Writes the element that bounds = fill gives over a row.
  void fill(const core::Plan& plan, char* out) const;
};

Kernels choose_kernels(const core::Plan& plan);

// The copy for a few rows of a size.
CopyRows choose_copy(int64_t row);

}  // namespace gather::cpu
