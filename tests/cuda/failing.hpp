#pragma once

#include "emulated.hpp"

// CUDA calls that fail one after the other.
namespace device {

// Makes the n-th CUDA call between arm() and disarm() fail.
struct Failing {
  int64_t n;
  int32_t code;
  bool fired = false;

  void arm() const { gth_emulation_fail(n, code); }
  void disarm() {
    fired = gth_emulation_calls() >= n;
    gth_emulation_fail(0, 0);
  }
};

// Every CUDA call fails once. The caller must get an error, nothing may be leaked, and the next attempt must succeed.
// The body returns the status of its call between arm() and disarm().
template <class Body>
void expect_to_survive(Body&& body) {
  const int64_t allocations = gth_emulation_live_allocations();
  for (int64_t n = 1; n < 1000; ++n) {
    Error error;
    Failing failing{n, n % 2 ? 700 : 2};
    const int32_t status = body(&failing, &error);
    EXPECT_EQ(gth_emulation_live_allocations(), allocations) << "call " << n;
    if (!failing.fired) {
      EXPECT_EQ(status, GTH_OK) << error.message;
      return;
    }
    if (status == GTH_OK) continue;  // a failure during cleanup
    EXPECT_TRUE(status == GTH_E_CUDA || status == GTH_E_NOMEM || status == GTH_E_DEVICE)
        << "call " << n << ": " << error.message;
    if (status != GTH_E_DEVICE) {
      EXPECT_EQ(error.native, failing.code) << "call " << n;
    }
  }
  FAIL() << "this does not come to an end";
}

}  // namespace device
