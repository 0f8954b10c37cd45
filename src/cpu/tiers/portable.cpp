#include "cpu/tiers/tier.hpp"
#include "gather/gather.h"

#include "cpu/tiers/scalar.hpp"
#include "cpu/tiers/soft_floats.hpp"
#include "cpu/tiers/soft_halves.hpp"

namespace gather::cpu {
namespace {

// Processes indices one by one. Rows use 16-byte vectors, which every supported processor has.
struct Lanes : Scalar {
  static constexpr int64_t register_bytes = 16;

  static GATHER_INLINE void stream(char* to, const char* from) { __builtin_memcpy(to, from, register_bytes); }
  static GATHER_INLINE void copy_string(char* to, const char* from, int64_t n) {
    __builtin_memcpy(to, from, static_cast<size_t>(n));
  }
  static bool has_fast_strings() { return false; }
  static GATHER_INLINE void fence() {}
};

struct Narrow {
  static constexpr int32_t count = 0;
};

using Halves = SoftHalves;
using Floats = SoftFloats;

// Packed rows are decoded number by number.
struct Wide {
  static constexpr int64_t count = 1;
};

}  // namespace
}  // namespace gather::cpu

#include "cpu/tiers/body.hpp"
#include "cpu/tiers/pool_packed.hpp"

namespace gather::cpu {

const Tier portable_tier = {
    GTH_TIER_PORTABLE,    inside,            resolve,           choose_copy,        choose_fused_gather,
    choose_fused_scatter, choose_look_up,    choose_scatter,    choose_scatter_sum, choose_scatter_element,
    choose_write,         choose_reduce,     choose_accumulate, choose_weighted,    nullptr,
    choose_decode,        choose_decode_row, choose_packed_pooling};

}  // namespace gather::cpu
