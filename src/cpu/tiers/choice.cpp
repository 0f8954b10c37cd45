#include "cpu/tiers/choice.hpp"

#ifdef GATHER_TESTING
#include <cstdio>
#include <cstdlib>
#include <cstring>
#endif

namespace gather::cpu {
namespace {

struct Candidate {
  const Tier& (*tier)();
  const char* name;
  bool (*is_usable)();
};

template <const Tier& of>
const Tier& fixed() {
  return of;
}

#if defined(__x86_64__)
bool supports_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("fma");
}

bool supports_avx512() {
  return supports_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

// The tier avx512: the kernels of avx2, and its own ones for bags that they pool faster.
const Tier& avx512_tier() {
  static const Tier tier = [] {
    Tier with = avx2_tier;
    with.bit = GTH_TIER_AVX512;
    with.choose_pooling = [](const Pooled& pooled, int64_t elements) {
      const PoolBags own = avx512_pooling.choose_pooling(pooled, elements);
      return own ? own : avx2_tier.choose_pooling(pooled, elements);
    };
    with.choose_packed_pooling = [](const core::Codec& codec, bool weighs, bool as_torch) {
      const PoolBags own = avx512_pooling.choose_packed_pooling(codec, weighs, as_torch);
      return own ? own : avx2_tier.choose_packed_pooling(codec, weighs, as_torch);
    };
    return with;
  }();
  return tier;
}
#endif

// The tiers in increasing order of speed.
const Candidate candidates[] = {
    {fixed<portable_tier>, "portable", [] { return true; }},
#if defined(__x86_64__)
    {fixed<avx2_tier>, "avx2", supports_avx2},
    {avx512_tier, "avx512", supports_avx512},
#elif defined(__aarch64__)
    {fixed<neon_tier>, "neon", [] { return true; }},
#endif
};

#ifdef GATHER_TESTING
// Ends the process with the exit status for skipped tests if the tier is not usable, so that no other tier is tested
// instead.
const Tier& forced_tier(const char* name) {
  for (const Candidate& each : candidates) {
    if (std::strcmp(each.name, name) == 0 && each.is_usable()) return each.tier();
  }
  std::printf("skipped: this processor does not run the tier %s\n", name);
  std::exit(77);
}
#endif

const Tier& choose_tier() {
#ifdef GATHER_TESTING
  if (const char* forced = std::getenv("GATHER_TIER")) return forced_tier(forced);
#endif
  const Tier* best = &portable_tier;
  for (const Candidate& each : candidates) {
    if (each.is_usable()) best = &each.tier();
  }
  return *best;
}

}  // namespace

uint32_t built_tiers() {
  uint32_t bits = 0;
  for (const Candidate& each : candidates) bits |= each.tier().bit;
  return bits;
}

uint32_t usable_tiers() {
  uint32_t bits = 0;
  for (const Candidate& each : candidates) bits |= each.is_usable() ? each.tier().bit : 0;
  return bits;
}

const Tier& tier() {
  static const Tier& chosen = choose_tier();
  return chosen;
}

const Tier* find_tier(uint32_t bit) {
  for (const Candidate& each : candidates) {
    if (each.tier().bit == bit && each.is_usable()) return &each.tier();
  }
  return nullptr;
}

}  // namespace gather::cpu
