#include <cstdlib>

#include "tiers.hpp"

// Which tier a process has.
namespace {

using namespace tiers;

TEST(TierChoice, IsUsableAndTold) {
  gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
  ASSERT_EQ(gth_capabilities(&info, nullptr), GTH_OK);
  EXPECT_EQ(info.cpu_tiers_built, built_tiers());
  EXPECT_EQ(info.cpu_tiers_usable, usable_tiers());
  EXPECT_EQ(info.cpu_tier, tier().bit);
  EXPECT_TRUE(info.cpu_tiers_built & GTH_TIER_PORTABLE);
  EXPECT_EQ(info.cpu_tiers_usable & ~info.cpu_tiers_built, 0u);
  EXPECT_NE(info.cpu_tiers_usable & info.cpu_tier, 0u);
}

// In a process of its own, because a process chooses once. 77 where it cannot run: what is tested in its name is skipped.
TEST(TierChoice, IsTheOneThatIsAskedFor) {
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
