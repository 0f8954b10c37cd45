#include "cpu/tiers/tier.hpp"
#include "gather/gather.h"

#include "cpu/tiers/one.hpp"

namespace gather::cpu {
namespace {

// Indices one by one; rows by what every processor of the kind has.
struct Lanes : One {
  static constexpr int64_t register_bytes = 16;

  static GATHER_INLINE void stream(char* to, const char* from) { __builtin_memcpy(to, from, register_bytes); }
  static GATHER_INLINE void fence() {}
};

struct Narrow {
  static constexpr int32_t count = 0;
};

}  // namespace
}  // namespace gather::cpu

#include "cpu/tiers/body.hpp"

namespace gather::cpu {

const Tier portable_tier = {GTH_TIER_PORTABLE, inside,     resolve,     choose_copy,    choose_take,
                            choose_write,      choose_sum, choose_give, choose_give_sum};

}  // namespace gather::cpu
