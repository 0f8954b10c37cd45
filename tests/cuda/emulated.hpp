#pragma once

#include "device_test.hpp"
#include "emulation/emulation.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

// What only an emulated device can be made to do.
namespace device {

// Of tests in which a context goes while its stream is captured: its workspace stays where it is, as the header says.
struct LosesWorkspace {
#if defined(__SANITIZE_ADDRESS__)
  LosesWorkspace() { __lsan_disable(); }
  ~LosesWorkspace() { __lsan_enable(); }
#else
  LosesWorkspace() {}
#endif
  LosesWorkspace(const LosesWorkspace&) = delete;
  LosesWorkspace& operator=(const LosesWorkspace&) = delete;
};

class Emulated : public DeviceTest {
 protected:
  void TearDown() override {
    gth_emulation_between(nullptr, nullptr);
    gth_emulation_shuffle(0);
    gth_emulation_count_to(0);
    gth_emulation_fail(0, 0);
    DeviceTest::TearDown();
    gth_shutdown();  // what waited for a stream of the test has waited
    EXPECT_EQ(gth_emulation_last_error(), 0) << "an error was left behind in CUDA's runtime";
  }
};

}  // namespace device
