#include "handles.hpp"

// NULL is rejected before anything else is checked.
namespace {

using namespace handles;

TEST_F(Handles, E1_NullInDescriptionsIsRejected) {
  for (const Operation& op : {g, nd}) {
    expect(op.named(nullptr, nullptr, &i_, &o_, nullptr, &error), null_of(GTH_OPERAND_PARAMS));
    expect(op.named(nullptr, &p_, nullptr, &o_, nullptr, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.named(nullptr, &p_, &i_, nullptr, nullptr, &error), null_of(GTH_OPERAND_OUT));
    int32_t ndim = 0;
    int64_t shape[2];
    expect(op.infer(nullptr, &i_, nullptr, 2, &ndim, shape, &error), null_of(GTH_OPERAND_PARAMS));
    expect(op.infer(&p_, nullptr, nullptr, 2, &ndim, shape, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.infer(&p_, &i_, nullptr, 2, nullptr, shape, &error), null_of(GTH_OPERAND_NONE));
    gth_plan* plan = token<gth_plan>(1);
    expect(op.plan(nullptr, &i_, nullptr, nullptr, &plan, &error), null_of(GTH_OPERAND_PARAMS));
    EXPECT_EQ(plan, nullptr);
    expect(op.plan(&p_, nullptr, nullptr, nullptr, &plan, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.plan(&p_, &i_, nullptr, nullptr, nullptr, &error), null_of(GTH_OPERAND_NONE));
  }
}

TEST_F(Handles, E1_NullShapesAreRejected) {
  gth_tensor_desc bad = p_;
  bad.shape = nullptr;
  expect(gth_gather(nullptr, &bad, &i_, &o_, nullptr, &error), null_of(GTH_OPERAND_PARAMS));
  bad.dtype = GTH_DTYPE_INT64;
  expect(gth_gather(nullptr, &p_, &bad, &o_, nullptr, &error), null_of(GTH_OPERAND_INDICES));
  bad.dtype = f32;
  expect(gth_gather(nullptr, &p_, &i_, &bad, nullptr, &error), null_of(GTH_OPERAND_OUT));
  gth_tensor* made = token<gth_tensor>(1);
  expect(gth_tensor_borrow(&bad, &made, &error), null_of(GTH_OPERAND_TENSOR));
  EXPECT_EQ(made, nullptr);
  expect(gth_tensor_alloc(nullptr, f32, 2, nullptr, &made, &error), null_of(GTH_OPERAND_TENSOR));
}

TEST_F(Handles, E1_NullHandlesAreRejected) {
  gth_tensor* made = token<gth_tensor>(1);
  for (const Operation& op : {g, nd}) {
    expect(op.make(nullptr, nullptr, indices.get(), nullptr, nullptr, &made, &error), null_of(GTH_OPERAND_PARAMS));
    EXPECT_EQ(made, nullptr);
    expect(op.make(nullptr, params.get(), nullptr, nullptr, nullptr, &made, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.make(nullptr, params.get(), indices.get(), nullptr, nullptr, nullptr, &error), null_of(GTH_OPERAND_NONE));
    expect(op.run(nullptr, nullptr, indices.get(), out.get(), nullptr, &error), null_of(GTH_OPERAND_PARAMS));
    expect(op.run(nullptr, params.get(), nullptr, out.get(), nullptr, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.run(nullptr, params.get(), indices.get(), nullptr, nullptr, &error), null_of(GTH_OPERAND_OUT));
  }
  expect(calls::copy(nullptr, nullptr, out.get(), &error), null_of(GTH_OPERAND_PARAMS));
  expect(calls::copy(nullptr, out.get(), nullptr, &error), null_of(GTH_OPERAND_OUT));
  expect(gth_plan_run(nullptr, nullptr, GTH_OPEN, p_.data, i_.data, out_.data(), &error), null_of(GTH_OPERAND_PLAN));
  int32_t ndim = 0;
  expect(calls::plan_infer(nullptr, GTH_OPEN, 0, &ndim, nullptr, &error), null_of(GTH_OPERAND_PLAN));
  expect(calls::check(nullptr, nullptr, GTH_OPEN, i_.data, &error), null_of(GTH_OPERAND_PLAN));
  gth_plan_args args = GTH_PLAN_ARGS_INIT;
  expect(gth_plan_extents(nullptr, &args, &error), null_of(GTH_OPERAND_PLAN));
}

TEST_F(Handles, E1_NullInScattersIsRejected) {
  int32_t ndim = 0;
  int64_t shape[2];
  for (const Operation& op : scatters) {
    expect(op.named(nullptr, nullptr, &i_, &p_, nullptr, &error), null_of(GTH_OPERAND_TARGET));
    expect(op.named(nullptr, &o_, nullptr, &p_, nullptr, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.named(nullptr, &o_, &i_, nullptr, nullptr, &error), null_of(GTH_OPERAND_UPDATES));
    expect(op.run(nullptr, nullptr, indices.get(), params.get(), nullptr, &error), null_of(GTH_OPERAND_TARGET));
    expect(op.run(nullptr, out.get(), nullptr, params.get(), nullptr, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.run(nullptr, out.get(), indices.get(), nullptr, nullptr, &error), null_of(GTH_OPERAND_UPDATES));
    gth_tensor* made = token<gth_tensor>(1);
    const auto expect_none = [&](gth_tensor* target, gth_tensor* index, gth_tensor* updates, int32_t operand) {
      expect(op.make(nullptr, target, index, updates, nullptr, &made, &error), null_of(operand));
      EXPECT_EQ(made, nullptr);
    };
    expect_none(nullptr, indices.get(), params.get(), GTH_OPERAND_TARGET);
    expect_none(out.get(), nullptr, params.get(), GTH_OPERAND_INDICES);
    expect_none(out.get(), indices.get(), nullptr, GTH_OPERAND_UPDATES);
    expect(op.make(nullptr, out.get(), indices.get(), params.get(), nullptr, nullptr, &error),
           null_of(GTH_OPERAND_NONE));
    gth_plan* plan = token<gth_plan>(1);
    expect(op.plan(nullptr, &i_, &p_, nullptr, &plan, &error), null_of(GTH_OPERAND_TARGET));
    expect(op.plan(&o_, nullptr, &p_, nullptr, &plan, &error), null_of(GTH_OPERAND_INDICES));
    EXPECT_EQ(plan, nullptr);
    expect(op.plan(&o_, &i_, &p_, nullptr, nullptr, &error), null_of(GTH_OPERAND_NONE));
    expect(op.infer(nullptr, &i_, nullptr, 2, &ndim, shape, &error), null_of(GTH_OPERAND_TARGET));
    expect(op.infer(&o_, nullptr, nullptr, 2, &ndim, shape, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.infer(&o_, &i_, nullptr, 2, nullptr, shape, &error), null_of(GTH_OPERAND_NONE));
  }
}

TEST_F(Handles, E1_NullInOtherCallsIsRejected) {
  gth_tensor* made;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  expect(gth_tensor_borrow(nullptr, &made, &error), null_of(GTH_OPERAND_TENSOR));
  expect(gth_tensor_borrow(&p_, nullptr, &error), null_of(GTH_OPERAND_NONE));
  expect(gth_tensor_adopt(nullptr, nullptr, [](void*) {}, nullptr, &made, &error), null_of(GTH_OPERAND_TENSOR));
  expect(gth_tensor_adopt(nullptr, &p_, nullptr, nullptr, &made, &error), null_of(GTH_OPERAND_NONE));
  const Shape shape{1};
  expect(gth_tensor_alloc(nullptr, f32, 1, shape.data(), nullptr, &error), null_of(GTH_OPERAND_NONE));
  expect(gth_tensor_describe(nullptr, &desc, &error), null_of(GTH_OPERAND_TENSOR));
  expect(gth_tensor_describe(params.get(), nullptr, &error), null_of(GTH_OPERAND_NONE));
  expect(gth_context_create(nullptr, nullptr, &error), null_of(GTH_OPERAND_NONE));
  expect(gth_context_enqueue_take_error(nullptr, nullptr, &error), null_of(GTH_OPERAND_NONE));
  expect(gth_capabilities(nullptr, &error), null_of(GTH_OPERAND_NONE));
}

// Required pointers are checked first, before structs and handles that are also invalid.
TEST_F(Handles, E1_NullIsCheckedFirst) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  desc.size = 3;
  gth_context* garbage = token<gth_context>(1);
  gth_tensor* stranger = token<gth_tensor>(1);
  gth_options options = GTH_OPTIONS_INIT;
  options.size = 3;
  expect(gth_tensor_describe(nullptr, &desc, &error), null_of(GTH_OPERAND_TENSOR), "describe");
  expect(calls::gather.run(garbage, stranger, indices.get(), nullptr, &options, &error), null_of(GTH_OPERAND_OUT),
         "into");
  expect(calls::copy(garbage, nullptr, stranger, &error), null_of(GTH_OPERAND_PARAMS), "copy from");
  expect(calls::copy(garbage, stranger, nullptr, &error), null_of(GTH_OPERAND_OUT), "copy to");
  expect(gth_plan_run(garbage, nullptr, 0, nullptr, nullptr, nullptr, &error), null_of(GTH_OPERAND_PLAN), "run");
}

}  // namespace
