#pragma once

#include <cstdint>

#include "core/plan/plan.hpp"
#include "cpu/tiers/tier.hpp"

namespace gather::cpu {

// So few tuples are resolved one by one.
constexpr int64_t few_tuples = 8;

// The first bad tuple of a block.
struct BadTuple {
  int64_t tuple;  // in the block
  int32_t component;
  int64_t value;  // the index as it was read
};

// The meaning of GTH_BOUNDS_* for an index.
Outside outside_of(int32_t bounds);

// Resolves tuples as Kernels::resolve of kernels.hpp does, without the help of a tier: what tiers are held against, and
// what decides where they cannot. Under bounds = error, clamp and modulo a bad tuple is told in *bad.
Resolved resolve(const core::Plan& plan, const char* tuples, int64_t stride, int64_t n, int64_t* offsets,
                 BadTuple* bad);

}  // namespace gather::cpu
