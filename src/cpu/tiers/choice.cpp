#include "cpu/tiers/choice.hpp"

#ifdef GATHER_TESTING
#include <cstdio>
#include <cstdlib>
#include <cstring>
#endif

namespace gather::cpu {
namespace {

struct Candidate {
  const Tier& tier;
  const char* name;
  bool (*is_usable)();
};

// The tiers in increasing order of speed. There is no AVX-512 tier: on Zen 4 and Zen 5 it was never faster than AVX2
// and up to 14 % slower.
const Candidate candidates[] = {
    {portable_tier, "portable", [] { return true; }},
#if defined(__x86_64__)
    {avx2_tier, "avx2",
     [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("fma"); }},
#elif defined(__aarch64__)
    {neon_tier, "neon", [] { return true; }},
#endif
};

#ifdef GATHER_TESTING
// Ends the process with the exit status for skipped tests if the tier is not usable, so that no other tier is tested
// instead.
const Tier& forced_tier(const char* name) {
  for (const Candidate& each : candidates) {
    if (std::strcmp(each.name, name) == 0 && each.is_usable()) return each.tier;
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
    if (each.is_usable()) best = &each.tier;
  }
  return *best;
}

}  // namespace

uint32_t built_tiers() {
  uint32_t bits = 0;
  for (const Candidate& each : candidates) bits |= each.tier.bit;
  return bits;
}

uint32_t usable_tiers() {
  uint32_t bits = 0;
  for (const Candidate& each : candidates) bits |= each.is_usable() ? each.tier.bit : 0;
  return bits;
}

const Tier& tier() {
  static const Tier& chosen = choose_tier();
  return chosen;
}

const Tier* find_tier(uint32_t bit) {
  for (const Candidate& each : candidates) {
    if (each.tier.bit == bit && each.is_usable()) return &each.tier;
  }
  return nullptr;
}

}  // namespace gather::cpu
