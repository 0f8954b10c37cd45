#include <cstdlib>

#include "tiers.hpp"

// Tests which tier a process uses.
namespace {

using namespace tiers;

TEST(TierChoice, ChosenTierIsSupportedAndReported) {
  gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
  ASSERT_EQ(gth_capabilities(&info, nullptr), GTH_OK);
  EXPECT_EQ(info.cpu_tiers_built, built_tiers());
  EXPECT_EQ(info.cpu_tiers_usable, usable_tiers());
  EXPECT_EQ(info.cpu_tier, tier().bit);
  EXPECT_TRUE(info.cpu_tiers_built & GTH_TIER_PORTABLE);
  EXPECT_EQ(info.cpu_tiers_usable & ~info.cpu_tiers_built, 0u);
  EXPECT_NE(info.cpu_tiers_usable & info.cpu_tier, 0u);
}

// Runs in its own process, because a process chooses once. Exit code 77 means that the processor does not support the
// tier.
TEST(TierChoice, RequestedTierIsUsed) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  for (const uint32_t bit : built()) {
    const std::string name = tier_name({bit, 0});
    const auto choose = [&] {
      setenv("GATHER_TIER", name.c_str(), 1);
      std::_Exit(tier().bit == bit ? 0 : 1);
    };
    EXPECT_EXIT(choose(), ::testing::ExitedWithCode(find_tier(bit) ? 0 : 77), "") << name;
  }
  const auto choose_none = [] {
    setenv("GATHER_TIER", "none", 1);
    std::_Exit(tier().bit ? 0 : 1);
  };
  EXPECT_EXIT(choose_none(), ::testing::ExitedWithCode(77), "");
}

}  // namespace
