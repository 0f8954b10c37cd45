#pragma once

#include "core/plan/plan.hpp"
#include "cpu/tiers/tier.hpp"

namespace gather::cpu {

// Returns the bytes of a number of the table, and those of a sum. A complex number is two numbers.
int64_t part_bytes(const core::Plan& plan);
int64_t sum_bytes(const core::Plan& plan);

// Returns the number of numbers in a row, and the highest number of them that is pooled at once.
int64_t row_elements(const core::Plan& plan);
int64_t most_elements(const core::Plan& plan);

// Returns what a kernel computes for GTH_POOL_*.
Pool pool_of(int32_t pool, bool has_weights);

// Returns true for max and min.
bool is_extreme(Pool pool);

// Returns the GTH_REDUCTION_* that combines the rows of a bag.
int32_t reduction_of(Pool pool);

Pooled pooled_of(const core::Plan& plan);

// Chooses the kernel for parts of most_elements() numbers, and the one for the last part of a row.
void choose_pooling(const core::Plan& plan, const Tier& tier, PoolBags* pooling, PoolBags* last);

// Returns the kernel that adds packed rows, or NULL.
PoolBags choose_packed_pooling(const core::Plan& plan, const Tier& tier);

}  // namespace gather::cpu
