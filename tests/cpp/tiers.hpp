#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "cpu/kernels.hpp"
#include "cpu/tiers/choice.hpp"
#include "guarded.hpp"

// Each tier that this processor supports is compared with the plain functions: offsets, rows, and accessed memory.
namespace tiers {

using gather::limits::block_tuples;

using gather::core::IndexType;
using namespace gather::cpu;
using hostile::Guarded;

// A test of one tier.
class Tiers : public ::testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    tier_ = find_tier(GetParam());
    if (!tier_) GTEST_SKIP() << "this processor does not run the tier";
  }

  int64_t pick(int64_t count) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(count)); }
  template <class T, size_t n>
  T pick(const T (&from)[n]) {
    return from[random_() % n];
  }

  // Numbers whose sums depend on their order, and integers that wrap around.
  template <class T>
  void draw(Guarded* memory) {
    for (size_t at = 0; at < memory->size(); at += sizeof(T)) {
      const T value = std::is_integral<T>::value
                          ? static_cast<T>(random_())
                          : static_cast<T>(static_cast<double>(pick(2000) - 1000) * (pick(3) == 0 ? 1e7 : 0.1));
      std::memcpy(memory->first() + at, &value, sizeof value);
    }
  }

  const Tier* tier_ = nullptr;
  std::mt19937_64 random_{7};
};

inline std::vector<uint32_t> built() {
  std::vector<uint32_t> bits;
  for (uint32_t bit : {GTH_TIER_PORTABLE, GTH_TIER_AVX2, GTH_TIER_AVX512, GTH_TIER_NEON}) {
    if (built_tiers() & bit) bits.push_back(bit);
  }
  return bits;
}

inline std::string tier_name(const ::testing::TestParamInfo<uint32_t>& info) {
  switch (info.param) {
    case GTH_TIER_PORTABLE: return "portable";
    case GTH_TIER_AVX2: return "avx2";
    case GTH_TIER_AVX512: return "avx512";
    default: return "neon";
  }
}

inline bool fits(IndexType kind, int64_t value) {
  const int64_t bits = 8 * gather::core::index_bytes(kind);
  if (bits == 64) return true;
  if (gather::core::is_signed(kind)) return value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1);
  return value >= 0 && value < int64_t{1} << bits;
}

// Adds a number to another. Integers wrap around.
template <class T>
void add_number(char* at, const char* update) {
  using Unsigned = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  using Number = std::conditional_t<std::is_integral_v<T>, Unsigned, T>;
  T a, b;
  std::memcpy(&a, at, sizeof a);
  std::memcpy(&b, update, sizeof b);
  a = static_cast<T>(static_cast<Number>(a) + static_cast<Number>(b));
  std::memcpy(at, &a, sizeof a);
}

}  // namespace tiers
