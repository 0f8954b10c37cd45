#pragma once

#include "cpu/tiers/tier.hpp"

namespace gather::cpu {

// GTH_TIER_* bits of the tiers in this library, and of those that this processor runs.
uint32_t built_tiers();
uint32_t usable_tiers();

// The best usable tier. Test builds take the one that GATHER_TIER names, and end with 77 if it is not usable.
const Tier& tier();

// A usable tier by its bit; nullptr: there is none.
const Tier* find_tier(uint32_t bit);

}  // namespace gather::cpu
