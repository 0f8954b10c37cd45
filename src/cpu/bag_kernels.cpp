#include "cpu/bag_kernels.hpp"

#include <algorithm>

namespace gather::cpu {
namespace {

Pool pool_of(const core::BagPlan& bags) {
  switch (bags.pool) {
    case GTH_POOL_MAX: return Pool::max;
    case GTH_POOL_MIN: return Pool::min;
    default: return bags.has_weights ? Pool::weighted_sum : Pool::sum;
  }
}

}  // namespace

int64_t part_bytes(const core::Plan& plan) {
  return plan.number == core::Number::complex ? plan.item.bytes() / 2 : plan.item.bytes();
}

int64_t sum_bytes(const core::Plan& plan) {
  const int64_t item = part_bytes(plan);
  return core::is_floating(plan.number) ? std::max<int64_t>(item, sizeof(float)) : item;
}

int64_t row_elements(const core::Plan& plan) { return plan.row.in / part_bytes(plan); }

int64_t most_elements(const core::Plan& plan) { return most_pooled_bytes / sum_bytes(plan); }

void choose_pooling(const core::Plan& plan, const Tier& tier, Pooling* pooling, Pooling* last) {
  const int64_t elements = row_elements(plan), most = most_elements(plan), rest = elements % most;
  const core::Number number = plan.number == core::Number::complex ? core::Number::floating : plan.number;
  const Pooled pooled{number, part_bytes(plan), plan.bags.rounds_each, pool_of(plan.bags)};
  *pooling = tier.choose_pooling(pooled, std::min(std::max<int64_t>(elements, 1), most));
  *last = rest ? tier.choose_pooling(pooled, rest) : *pooling;
}

}  // namespace gather::cpu
