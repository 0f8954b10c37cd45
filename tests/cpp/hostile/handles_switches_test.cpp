#include <cstddef>

#include "handles.hpp"

// Unknown switches, flags, dtypes and numbers are rejected.
namespace {

using namespace handles;

TEST_F(Handles, E7_UnknownSwitchesAreRejected) {
  struct Switch {
    int32_t gth_options::* field;
    size_t offset;
    int32_t highest;
  };
  const Switch switches[] = {{&gth_options::has_axis, offsetof(gth_options, has_axis), 1},
                             {&gth_options::profile, offsetof(gth_options, profile), GTH_PROFILE_JAX_CLIP},
                             {&gth_options::negative, offsetof(gth_options, negative), GTH_NEGATIVE_WRAP},
                             {&gth_options::bounds, offsetof(gth_options, bounds), GTH_BOUNDS_ERROR_PARTIAL},
                             {&gth_options::fill, offsetof(gth_options, fill), GTH_FILL_BY_DTYPE}};
  for (const Switch& each : switches) {
    for (int32_t value : {-1, 99, each.highest + 1, INT32_MIN, INT32_MAX}) {
      gth_options options = GTH_OPTIONS_INIT;
      options.*each.field = value;
      const Facts facts{GTH_E_VERSION, GTH_OPERAND_OPTIONS, static_cast<int32_t>(each.offset), -1, value, each.highest};
      expect(gth_gather(nullptr, &p_, &i_, &o_, &options, &error), facts);
      gth_tensor* made = nullptr;
      expect(calls::gather.make(nullptr, params.get(), indices.get(), nullptr, &options, &made, &error), facts);
    }
  }
}

TEST_F(Handles, E7_UnknownFlagsAndReservedFieldsAreRejected) {
  gth_tensor_desc bad = p_;
  bad.flags = 2;
  expect(gth_gather(nullptr, &bad, &i_, &o_, nullptr, &error),
         {GTH_E_VERSION, GTH_OPERAND_PARAMS, -1, -1, 2, GTH_TENSOR_READONLY});
  bad.flags = 0;
  const gth_codec unknown{};
  bad.codec = &unknown;
  EXPECT_EQ(gth_gather(nullptr, &bad, &i_, &o_, nullptr, &error), GTH_E_VERSION);
  gth_context* context = nullptr;
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.flags = 4;
  EXPECT_EQ(gth_context_create(&options, &context, &error), GTH_E_VERSION);
  EXPECT_EQ(error.component, static_cast<int32_t>(offsetof(gth_context_options, flags)));
  options = GTH_CONTEXT_OPTIONS_INIT;
  options.reserved = 1;
  EXPECT_EQ(gth_context_create(&options, &context, &error), GTH_E_VERSION);
  EXPECT_EQ(error.component, static_cast<int32_t>(offsetof(gth_context_options, reserved)));
  options = GTH_CONTEXT_OPTIONS_INIT;
  options.reserved_pointer = &options;
  EXPECT_EQ(gth_context_create(&options, &context, &error), GTH_E_VERSION);
  EXPECT_EQ(error.component, static_cast<int32_t>(offsetof(gth_context_options, reserved_pointer)));
}

TEST_F(Handles, E7_NewTensorsWithoutDtypeAreRejected) {
  const int64_t shape[] = {2};
  for (const int32_t dtype : {0, 1, -1, 7, GTH_DTYPE_FLOAT32 + 1, GTH_DTYPE_STRING + 1, INT32_MAX, INT32_MIN}) {
    gth_tensor* made = token<gth_tensor>(1);
    expect(gth_tensor_alloc(nullptr, dtype, 1, shape, &made, &error),
           {GTH_E_DTYPE, GTH_OPERAND_TENSOR, -1, -1, dtype, 0});
    EXPECT_EQ(made, nullptr);
  }
}

TEST_F(Handles, E7_FailedAdoptLeavesTheMemoryToTheCaller) {
  const auto deleter = [](void*) { ADD_FAILURE() << "of a tensor that was not made"; };
  gth_tensor_desc bad = p_;
  bad.dtype = 7;
  gth_tensor* made = token<gth_tensor>(1);
  expect(gth_tensor_adopt(nullptr, &bad, deleter, nullptr, &made, &error),
         {GTH_E_DTYPE, GTH_OPERAND_TENSOR, -1, -1, 7, 0});
  EXPECT_EQ(made, nullptr);
  bad.dtype = f32;
  bad.data = nullptr;
  expect(gth_tensor_adopt(nullptr, &bad, deleter, nullptr, &made, &error), null_of(GTH_OPERAND_TENSOR));
}

// Strings have no memory of fixed size.
TEST_F(Handles, E7_StringsAreRejectedAsNumbers) {
  const int64_t shape[] = {2}, offsets[] = {0, 1, 2};
  Tensor strings;
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 1, shape, offsets, "ab", 2, nullptr, nullptr, strings.out(), &error),
            GTH_OK);
  Facts facts{GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR, -1, -1, GTH_DTYPE_STRING, 0};
  gth_tensor* made = token<gth_tensor>(1);
  expect(gth_tensor_alloc(nullptr, GTH_DTYPE_STRING, 1, shape, &made, &error), facts);
  EXPECT_EQ(made, nullptr);
  gth_tensor_desc desc = p_;
  desc.dtype = GTH_DTYPE_STRING;
  expect(gth_tensor_borrow(&desc, &made, &error), facts);
  facts.operand = GTH_OPERAND_PARAMS;
  expect(calls::copy(nullptr, strings.get(), out.get(), &error), facts);
  facts.operand = GTH_OPERAND_OUT;
  expect(calls::copy(nullptr, out.get(), strings.get(), &error), facts);
}

TEST_F(Handles, E7_InvalidOpsetsAndThreadsAreRejected) {
  gth_options options = with_profile(GTH_PROFILE_ONNX);
  const int32_t field = offsetof(gth_options, opset);
  for (int32_t opset : {-1, INT32_MIN, 10}) {
    options.opset = opset;
    expect(gth_gather_nd(nullptr, &p_, &j_, &o_, &options, &error),
           {GTH_E_VERSION, GTH_OPERAND_OPTIONS, field, -1, opset, 11});
  }
  gth_options threads = GTH_OPTIONS_INIT;
  threads.threads = -1;
  expect(gth_gather(nullptr, &p_, &i_, &o_, &threads, &error),
         {GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, threads), -1, -1, INT32_MAX});
  gth_context_options context_options = GTH_CONTEXT_OPTIONS_INIT;
  context_options.threads = -1;
  gth_context* context = nullptr;
  EXPECT_EQ(gth_context_create(&context_options, &context, &error), GTH_E_VERSION);
}

}  // namespace
