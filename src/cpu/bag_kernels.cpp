#include "cpu/bag_kernels.hpp"

#include <algorithm>

namespace gather::cpu {

Pool pool_of(int32_t pool, bool has_weights) {
  switch (pool) {
    case GTH_POOL_MAX: return Pool::max;
    case GTH_POOL_MIN: return Pool::min;
    default: return has_weights ? Pool::weighted_sum : Pool::sum;
  }
}

bool is_extreme(Pool pool) { return pool == Pool::max || pool == Pool::min; }

int32_t reduction_of(Pool pool) {
  return pool == Pool::max ? GTH_REDUCTION_MAX : pool == Pool::min ? GTH_REDUCTION_MIN : GTH_REDUCTION_ADD;
}

int64_t part_bytes(const core::Plan& plan) {
  return plan.reducing.number == core::Number::complex ? plan.item.bytes() / 2 : plan.item.bytes();
}

int64_t sum_bytes(const core::Plan& plan) {
  const int64_t item = part_bytes(plan);
  return core::is_floating(plan.reducing.number) ? std::max<int64_t>(item, sizeof(float)) : item;
}

int64_t row_elements(const core::Plan& plan) { return plan.row.in / part_bytes(plan); }

int64_t most_elements(const core::Plan& plan) { return most_pooled_bytes / sum_bytes(plan); }

Pooled pooled_of(const core::Plan& plan) {
  const core::Number number =
      plan.reducing.number == core::Number::complex ? core::Number::floating : plan.reducing.number;
  return {number, part_bytes(plan), plan.bags.rounds_each, pool_of(plan.bags.pool, plan.bags.has_weights)};
}

void choose_pooling(const core::Plan& plan, const Tier& tier, PoolBags* pooling, PoolBags* last) {
  *pooling = *last = nullptr;
  if (!tier.choose_pooling) return;
  const int64_t most = most_elements(plan);
  *pooling = tier.choose_pooling(pooled_of(plan), most);
  *last = tier.choose_pooling(pooled_of(plan), row_elements(plan) % most);
}

PoolBags choose_packed_pooling(const core::Plan& plan, const Tier& tier) {
  static_assert(most_decoded * sizeof(float) == most_pooled_bytes, "a part of a row has as many sums");
  const Pool pool = pool_of(plan.bags.pool, plan.bags.has_weights);
  if (is_extreme(pool)) return nullptr;
  return tier.choose_packed_pooling(plan.packed.codec, pool == Pool::weighted_sum, plan.bags.adds_bias_first);
}

}  // namespace gather::cpu
