#pragma once

#include "cpu/tiers/tier.hpp"

namespace gather::cpu {

// Return the GTH_TIER_* bits of the tiers in this library, and of the tiers that this processor can run.
uint32_t built_tiers();
uint32_t usable_tiers();

// Returns the fastest usable tier. Test builds use the tier that GATHER_TIER names, and exit with status 77 if it is
// not usable.
const Tier& tier();

// Returns the usable tier with this bit, or nullptr.
const Tier* find_tier(uint32_t bit);

}  // namespace gather::cpu
