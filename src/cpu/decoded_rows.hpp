#pragma once

#include "cpu/tiers/tier.hpp"

namespace gather::cpu {

// The kernels that pool packed rows.
struct Decoding {
  const Pooled& pooled;
  const Tier& tier;
  DecodeRow decode;
  PoolBags add;  // adds rows, or NULL
};

// Pools packed rows: a part of each row of some bags, as BagRows describes them. `filled` has the numbers of the rows
// of bounds = fill, or is NULL. Returns NULL, or the first id that is out of bounds.
const int64_t* pool_decoded_rows(const Decoding& how, const BagRows& bags, const float* filled);

}  // namespace gather::cpu
