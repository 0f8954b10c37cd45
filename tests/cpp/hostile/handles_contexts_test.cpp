#include <cstddef>
#include <cstring>
#include <stdexcept>

#include "handles.hpp"

// Contexts of the CPU, unknown devices and hooks that fail.
namespace {

using namespace handles;

TEST_F(Handles, E7_UnknownDevicesAreRejected) {
  for (int32_t device : {-1, 4, 99, INT32_MIN}) {
    gth_tensor_desc bad = p_;
    bad.device = device;
    expect(gth_gather(nullptr, &bad, &i_, &o_, nullptr, &error), {GTH_E_DEVICE, GTH_OPERAND_PARAMS, -1, -1, device, 0});
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.device = device;
    gth_context* context = nullptr;
    EXPECT_EQ(gth_context_create(&options, &context, &error), GTH_E_DEVICE);
    EXPECT_EQ(error.value, device);
  }
}

TEST_F(Handles, E7_CpuContextsGatherOnTheCpu) {
  for (int32_t device : {0, GTH_DEVICE_CPU}) {
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.device = device;
    gth_context* context = nullptr;
    ASSERT_EQ(gth_context_create(&options, &context, &error), GTH_OK) << error.message;
    gth_tensor* made = nullptr;
    ASSERT_EQ(calls::gather.make(context, params.get(), indices.get(), nullptr, nullptr, &made, &error), GTH_OK)
        << error.message;
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    EXPECT_EQ(gth_tensor_describe(made, &desc, &error), GTH_OK);
    EXPECT_EQ(desc.device, GTH_DEVICE_CPU);
    EXPECT_EQ(gth_tensor_release(made), GTH_OK);
    EXPECT_EQ(gth_context_release(context), GTH_OK);
  }
}

// A call on the CPU is complete when it returns, and reports its own errors. So waiting and taking do nothing.
TEST_F(Handles, E7_CpuContextsHaveNothingToWaitFor) {
  gth_context* made = nullptr;
  ASSERT_EQ(gth_context_create(nullptr, &made, &error), GTH_OK);
  for (gth_context* context : {static_cast<gth_context*>(nullptr), made}) {
    gth_error_record record;
    std::memset(&record, '#', sizeof record);
    const gth_error_record before = record;
    EXPECT_EQ(gth_context_sync(context, &error), GTH_OK) << error.message;
    EXPECT_EQ(gth_context_take_error(context, &error), GTH_OK) << error.message;
    EXPECT_EQ(gth_context_enqueue_take_error(context, &record, &error), GTH_OK) << error.message;
    EXPECT_EQ(std::memcmp(&record, &before, sizeof record), 0);
    const Facts facts{GTH_E_DEVICE, GTH_OPERAND_CONTEXT, -1, -1, GTH_DEVICE_CPU, GTH_DEVICE_CUDA};
    expect(gth_context_wait(context, nullptr, &error), facts);
    expect(gth_context_signal(context, nullptr, &error), facts);
  }
  EXPECT_EQ(gth_context_release(made), GTH_OK);
}

// The error is reported when the plan is created, not at the first run.
TEST_F(Handles, E7_PlansOfMissingDevicesAreRejected) {
  gth_tensor_desc p = p_, i = i_;
  p.device = i.device = GTH_DEVICE_CUDA;
  p.device_id = i.device_id = 1000;
  gth_plan* plan = nullptr;
  expect(calls::gather.plan(&p, &i, nullptr, nullptr, &plan, &error),
         {GTH_E_DEVICE, GTH_OPERAND_PARAMS, -1, -1, GTH_DEVICE_CUDA, GTH_DEVICE_CPU});
  EXPECT_EQ(plan, nullptr);
}

TEST_F(Handles, E11_ThrowingHookReturnsNomem) {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.alloc = [](void*, int64_t, int64_t, int32_t, int32_t, CUstream_st*) -> void* {
    throw std::runtime_error("no");
  };
  options.free = [](void*, int64_t, int64_t, int32_t, int32_t, CUstream_st*, void*) { ADD_FAILURE(); };
  gth_context* context = nullptr;
  ASSERT_EQ(gth_context_create(&options, &context, nullptr), GTH_OK);
  gth_tensor* made = token<gth_tensor>(1);
  expect(calls::gather.make(context, params.get(), indices.get(), nullptr, nullptr, &made, &error),
         {GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, 24, 0});
  EXPECT_EQ(made, nullptr);
  const Shape shape{2};
  expect(gth_tensor_alloc(context, f32, 1, shape.data(), &made, &error), {GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, 8, 0});
  EXPECT_EQ(gth_context_release(context), GTH_OK);
}

TEST_F(Handles, E11_SingleHooksAreRejected) {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.alloc = [](void*, int64_t, int64_t, int32_t, int32_t, CUstream_st*) -> void* { return nullptr; };
  gth_context* context = token<gth_context>(1);
  expect(gth_context_create(&options, &context, &error),
         {GTH_E_NULL, GTH_OPERAND_OPTIONS, offsetof(gth_context_options, free), -1, 0, 0});
  EXPECT_EQ(context, nullptr);
}

}  // namespace
