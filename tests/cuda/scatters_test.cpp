#include "scatter_forms.hpp"

// Compares random scatters of every form on the device with the same call on the CPU: status, error fields and bytes.
namespace {

using device::Context;
using forms::Call;
using forms::Random;

class Scatters : public device::DeviceTest {};

TEST_F(Scatters, ResultsAreThoseOfTheCpu) {
  const Context context;
  const uint64_t calls = device::is_emulated() ? 4000 : 20'000;
  for (uint64_t seed = 1; seed <= calls && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Call call = forms::make_scatter(random);
    if (forms::output_bytes(call) > (1 << 20)) continue;
    forms::compare_scatter(call, context, random);
    device::forget_described();
  }
}

}  // namespace
