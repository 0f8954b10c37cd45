#include "forms.hpp"

// Compares random gathers of every form on the device with the same call on the CPU: status, error fields and bytes.
namespace {

using device::Bytes;
using device::Context;
using device::Error;
using device::Memory;
using device::Shape;
using forms::Call;
using forms::Operand;
using forms::Random;

class Forms : public device::DeviceTest {};

TEST_F(Forms, ResultsAreThoseOfTheCpu) {
  const Context context;
  const int64_t calls = device::random_calls(1500, 20'000);
  for (int64_t seed = 1; seed <= calls && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<uint64_t>(seed));
    const Call call = forms::make_call(random);
    if (forms::output_bytes(call) > (1 << 20)) continue;
    forms::compare(call, context, random);
    device::forget_described();
  }
}

// Every row size at every alignment, few rows and many.
TEST_F(Forms, EveryRowSizeAndAlignment) {
  const Context context;
  Random random(7);
  for (int64_t row = 1; row <= 140; ++row) {
    for (const int64_t shift : {0, 1, 2, 4, 7, 8, 15}) {
      Call call;
      call.op = GTH_OP_GATHER;
      call.params.dtype = call.out.dtype = GTH_DTYPE_INT8;
      call.params.shape = {5, row};
      call.indices.dtype = GTH_DTYPE_INT32;
      call.indices.shape = {1 + row % 40};
      call.out.shape = {1 + row % 40, row};
      call.options.bounds = row % 3 == 0 ? GTH_BOUNDS_SKIP : row % 3 == 1 ? GTH_BOUNDS_FILL : GTH_BOUNDS_ERROR;
      for (Operand* each : {&call.params, &call.indices, &call.out}) {
        each->bytes.resize(static_cast<size_t>(gth_dtype_size(each->dtype) * each->shape[0] *
                                               (each->shape.size() > 1 ? each->shape[1] : 1)));
        for (char& byte : each->bytes) byte = static_cast<char>(random.bits());
      }
      for (int64_t i = 0; i < call.indices.shape[0]; ++i) {
        const int32_t value = static_cast<int32_t>(call.options.bounds == GTH_BOUNDS_ERROR ? i % 5 : i % 7);
        std::memcpy(call.indices.bytes.data() + i * 4, &value, 4);
      }
      Bytes expected = call.out.bytes;
      Error error;
      EXPECT_EQ(forms::run(call, nullptr, call.params.desc(call.params.bytes.data(), GTH_DEVICE_CPU),
                           call.indices.desc(call.indices.bytes.data(), GTH_DEVICE_CPU),
                           call.out.desc(expected.data(), GTH_DEVICE_CPU), &error),
                GTH_OK)
          << error.message;
      const Memory params(call.params.bytes, shift), indices(call.indices.bytes), out(call.out.bytes, (shift * 3) % 16);
      EXPECT_EQ(forms::run(call, context.get(), call.params.desc(params.data(), GTH_DEVICE_CUDA),
                           call.indices.desc(indices.data(), GTH_DEVICE_CUDA),
                           call.out.desc(out.data(), GTH_DEVICE_CUDA), &error),
                GTH_OK)
          << error.message;
      context.expect_no_error();
      EXPECT_TRUE(out.get() == expected) << "row " << row << " shift " << shift;
      device::forget_described();
    }
  }
}

// One plan for any number of tuples. Depending on the number, the copying kernel validates them, or a separate kernel.
TEST_F(Forms, OpenExtents) {
  const Context context;
  constexpr int64_t most = device::in_front + 1000;
  device::Lookup lookup(9, 3, most);
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < most; ++i) rows.push_back(i % 9);
  lookup.pick(rows);
  gth_tensor_desc p = lookup.params_desc(), i = lookup.indices_desc();
  const int64_t open = GTH_OPEN;
  i.shape = &open;
  gth_plan* plan = nullptr;
  Error error;
  ASSERT_EQ(device::plan_gather(p, i, nullptr, &plan, &error), GTH_OK) << error.message;
  int64_t calls = 0;
  for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{7}, device::most_inside, device::in_front, most}) {
    lookup.clear();
    ASSERT_EQ(gth_plan_run(context.get(), plan, n, p.data, i.data, lookup.out.data(), &error), GTH_OK) << error.message;
    EXPECT_EQ(error.sequence, ++calls);
    context.expect_no_error();
    lookup.expect_rows(std::vector<int64_t>(rows.begin(), rows.begin() + n));
    const Bytes all = lookup.out.get();
    EXPECT_TRUE(std::all_of(all.begin() + n * 12, all.end(), [](char byte) { return byte == device::poison; })) << n;
  }
  facts::expect_fields(gth_plan_run(context.get(), plan, -1, p.data, i.data, lookup.out.data(), &error), error,
                       {GTH_E_SHAPE, GTH_OPERAND_PLAN, -1, -1, -1, 0});
  facts::expect_fields(gth_plan_run(context.get(), plan, 1, p.data, p.data, const_cast<void*>(p.data), &error), error,
                       {GTH_E_ALIAS, GTH_OPERAND_OUT, -1, -1, GTH_OPERAND_PARAMS, 0});
  EXPECT_EQ(gth_plan_release(plan), GTH_OK);
}

// Values are validated without an output, and even if the number of output elements exceeds int64.
TEST_F(Forms, EmptyOutputsOfHugeExtents) {
  const Context context;
  const Memory indices(std::vector<int64_t>{0});
  const Shape one{1};
  for (const int64_t huge : {INT64_MAX, (int64_t{1} << 62) + 1, int64_t{1} << 31}) {
    for (const Shape& shape : {Shape{1, huge, 0}, Shape{1, 0, huge}, Shape{huge, 0, 1}, Shape{huge, 1, 0}}) {
      for (const int64_t axis : {0, 1, 2}) {
        if (shape[static_cast<size_t>(axis)] == 0) continue;
        gth_options options = GTH_OPTIONS_INIT;
        options.profile = GTH_PROFILE_ONNX;
        options.has_axis = 1;
        options.axis = axis;
        Shape made = shape;
        made[static_cast<size_t>(axis)] = 1;
        const Shape strides{7, 5, 3}, out_strides{0, 5, 1};  // unused strides, which may have any value
        gth_tensor_desc p = device::describe_on_device(GTH_DTYPE_INT8, shape, nullptr);
        p.strides = strides.data();
        const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, one, indices.data());
        gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_INT8, made, nullptr);
        o.strides = out_strides.data();
        Error error;
        EXPECT_EQ(gth_gather(context.get(), &p, &i, &o, &options, &error), GTH_OK) << error.message;
        context.expect_no_error();
      }
    }
  }
}

}  // namespace
