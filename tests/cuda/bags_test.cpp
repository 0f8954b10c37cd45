#include <map>

#include "bag_forms.hpp"

// Gathers of bags on the device.
namespace {

using device::Context;
using forms::BagCall;
using forms::Random;

class Bags : public device::DeviceTest {};

// Random calls of every form: status, error fields and bytes are those of the CPU.
TEST_F(Bags, ResultsAreThoseOfTheCpu) {
  const Context context;
  std::map<int32_t, int64_t> statuses;
  const uint64_t calls = device::is_emulated() ? 3000 : 20'000;
  for (uint64_t seed = 1; seed <= calls && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const BagCall call = forms::make_bags(random);
    if (forms::bytes_of(call.out) > (1 << 17)) continue;
    ++statuses[forms::compare_bags(call, context, random)];
    device::forget_described();
  }
  for (const int32_t status : {GTH_OK, GTH_E_OFFSETS, GTH_E_INDEX}) EXPECT_GT(statuses[status], int64_t{20}) << status;
}

}  // namespace
