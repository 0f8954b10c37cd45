#pragma once

#include "core/plan/pointers.hpp"
#include "core/plan/short_bags.hpp"
#include "cpu/tiers/tier.hpp"

namespace gather::cpu {

// Returns the kernel of a short form of bags, or NULL.
PoolBags choose_short_pooling(const core::ShortBags& form);

// Runs the short form of bags. Returns false, and writes nothing, if the run has too many bags or is invalid, or if
// there is no kernel. The plan then runs or reports the error. `given` is the size of the memory. nullptr means that it
// is sufficient.
bool run_short_bags(const core::ShortBags& form, PoolBags kernel, const core::Pointers& pointers, int64_t n,
                    const core::Extents* given);

// Returns true if run_short_bags can run this. *spans receives the accessed memory.
bool check_short_bags(const core::ShortBags& form, PoolBags kernel, const core::Pointers& pointers, int64_t n,
                      const core::Extents* given, core::Spans* spans);

}  // namespace gather::cpu
