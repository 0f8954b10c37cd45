#pragma once

#include "cpu/tiers/tier.hpp"

namespace gather::cpu {

// The id of a row that is not in the table.
constexpr int64_t row_of_fill = no_row + 1;

// Pools bags of any numbers as a PoolBags does, one row after the other. The tier has kernels only for frequent numbers.
// `filled` is the row of the id row_of_fill, or NULL.
const int64_t* pool_rows(const Pooled& pooled, const Tier& tier, const BagRows& bags, const char* filled);

}  // namespace gather::cpu
