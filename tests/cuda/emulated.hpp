#pragma once

#include "device_test.hpp"
#include "emulation/emulation.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

// Functions that only an emulated device has.
namespace device {

// For tests in which a context is released while its stream is captured. Its workspace is leaked, as the header states.
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
    gth_emulation_lines_from(0);
    gth_emulation_fail(0, 0);
    DeviceTest::TearDown();
    gth_shutdown();  // runs the releases that waited for a stream of the test
    EXPECT_EQ(gth_emulation_last_error(), 0) << "an error was left behind in CUDA's runtime";
  }
};

}  // namespace device
