#include <vector>

#include "device_test.hpp"

// Several requests or plans in one call, operands of both kinds, and plans with bound operands, on a device context.
namespace {

using device::Context;
using device::Error;
using device::Lookup;
using device::Memory;
using device::Tensor;

class Many : public device::DeviceTest {};

// A gather of a Lookup as a request.
struct Request {
  explicit Request(const Lookup& lookup)
      : params(lookup.params_desc()), indices(lookup.indices_desc()), out(lookup.out_desc()) {}
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  gth_tensor_desc params, indices, out;
  gth_request request = GTH_REQUEST(GTH_OP_GATHER, &params, &indices, &out, nullptr);
};

int32_t run(const Context& context, const std::vector<const gth_request*>& requests, gth_error* error) {
  return gth_run_many(context.get(), static_cast<int64_t>(requests.size()), requests.data(), error);
}

TEST_F(Many, RequestsRunInOrder) {
  const Context context;
  Lookup first(6, 4, 3), second(9, 2, 2);
  first.pick({5, 0, 3});
  second.pick({8, 1});
  const Request one(first), two(second);
  Error error;
  ASSERT_EQ(run(context, {&one.request, &two.request}, &error), GTH_OK) << error.message;
  context.expect_no_error();
  first.expect_rows({5, 0, 3});
  second.expect_rows({8, 1});
  // The second request reads the output of the first.
  Request copy(second);
  const device::Shape shape{3, 4}, picks{2}, out_shape{2, 4};
  const Memory chained(2 * 4 * 4);
  copy.params = first.out_desc();
  copy.out = device::describe_on_device(GTH_DTYPE_INT32, out_shape, chained.data());
  device::copy(second.indices.data(), std::vector<int64_t>{2, 0}.data(), 16);
  Error refused;
  facts::expect_fields(run(context, {&one.request, &copy.request}, &refused), refused,
                       {GTH_E_ALIAS, GTH_OPERAND_OUT, -1, -1, 1, 0});
  EXPECT_EQ(refused.item, 0);
}

TEST_F(Many, ShapesAreValidatedBeforeTheFirstRequestIsEnqueued) {
  const Context context;
  Lookup first(6, 4, 3), second(6, 4, 3);
  first.pick({5, 0, 3});
  second.pick({1, 2, 0});
  const Request one(first);
  Request two(second);
  const device::Shape wrong{3, 5};
  two.out.shape = wrong.data();
  Error error;
  EXPECT_EQ(run(context, {&one.request, &two.request}, &error), GTH_E_SHAPE);
  EXPECT_EQ(error.item, 1);
  EXPECT_EQ(error.operand, GTH_OPERAND_OUT);
  context.expect_no_error();
  first.expect_unchanged();
  second.expect_unchanged();
  EXPECT_EQ(run(context, {&one.request, nullptr}, &error), GTH_E_NULL);
  EXPECT_EQ(error.item, 1);
  context.sync();
  first.expect_unchanged();
}

TEST_F(Many, IndicesAreValidatedByEachRequest) {
  const Context context;
  Lookup first(6, 4, 3), second(6, 4, 3), third(6, 4, 3);
  first.pick({5, 0, 3});
  second.pick({1, 6, 0});
  third.pick({2, 2, -1});
  const Request one(first), two(second), three(third);
  Error error;
  ASSERT_EQ(run(context, {&one.request, &two.request, &three.request}, &error), GTH_OK) << error.message;
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 6, 6}, 2, 2);
  first.expect_rows({5, 0, 3});
  second.expect_unchanged();
  third.expect_unchanged();
}

// Errors that depend on shapes only are INDEX, not RACE. Nothing is enqueued.
TEST_F(Many, ParamsWithoutElementsAreRejectedBeforeAnythingIsEnqueued) {
  const Context context;
  Lookup first(6, 4, 3), second(6, 4, 3);
  first.pick({5, 0, 3});
  const Request one(first);
  Request two(second);
  const device::Shape none{0, 4}, pairs{3, 1};
  const gth_options options = [] {
    gth_options made = GTH_OPTIONS_INIT;
    made.profile = GTH_PROFILE_TENSORFLOW;
    return made;
  }();
  two.params.shape = none.data();
  two.params.data = nullptr;
  two.indices.ndim = 2;
  two.indices.shape = pairs.data();
  two.request.op = GTH_OP_GATHER_ND;
  two.request.options = &options;
  Error error;
  facts::expect_fields(gth_run_request(context.get(), &two.request, &error), error,
                       {GTH_E_INDEX, GTH_OPERAND_PARAMS, 0, -1, 0, 1});
  facts::expect_fields(run(context, {&one.request, &two.request}, &error), error,
                       {GTH_E_INDEX, GTH_OPERAND_PARAMS, 0, -1, 0, 1});
  EXPECT_EQ(error.item, 1);
  context.expect_no_error();
  first.expect_unchanged();
}

TEST_F(Many, PlansRunAsOne) {
  const Context context;
  Lookup first(6, 4, 3), second(6, 4, 3);
  first.pick({5, 0, 3});
  second.pick({1, 2, 0});
  gth_plan* plan = nullptr;
  Error error;
  ASSERT_EQ(device::plan_gather(first.params_desc(), first.indices_desc(), nullptr, &plan, &error), GTH_OK);
  const gth_plan* plans[] = {plan, plan};
  const gth_plan_args one = calls::args(GTH_OPEN, first.params.data(), first.indices.data(), first.out.data());
  gth_plan_args two = calls::args(GTH_OPEN, second.params.data(), second.indices.data(), second.out.data());
  const gth_plan_args* args[] = {&one, &two};
  ASSERT_EQ(gth_plan_run_many(context.get(), 2, plans, args, &error), GTH_OK) << error.message;
  context.expect_no_error();
  first.expect_rows({5, 0, 3});
  second.expect_rows({1, 2, 0});

  first.clear();
  two.n = 3;  // the plan has no open extent
  EXPECT_EQ(gth_plan_run_many(context.get(), 2, plans, args, &error), GTH_E_SHAPE);
  EXPECT_EQ(error.item, 1);
  context.sync();
  first.expect_unchanged();

  two.n = GTH_OPEN;
  second.clear();
  second.pick({1, 7, 0});
  ASSERT_EQ(gth_plan_run_many(context.get(), 2, plans, args, &error), GTH_OK) << error.message;
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 7, 6});
  first.expect_rows({5, 0, 3});
  second.expect_unchanged();
  EXPECT_EQ(gth_plan_release(plan), GTH_OK);
}

TEST_F(Many, OperandsOfBothKinds) {
  const Context context;
  Lookup lookup(6, 4, 3);
  const Tensor params(lookup.params_desc()), indices(lookup.indices_desc()), out(lookup.out_desc());
  const gth_tensor_desc memory[] = {lookup.params_desc(), lookup.indices_desc(), lookup.out_desc()};
  const gth_tensor_desc handles[] = {GTH_TENSOR_DESC_HANDLE(params.get()), GTH_TENSOR_DESC_HANDLE(indices.get()),
                                     GTH_TENSOR_DESC_HANDLE(out.get())};
  lookup.pick({5, 0, 3});
  for (unsigned kinds = 0; kinds < 8; ++kinds) {
    SCOPED_TRACE(kinds);
    const auto operand = [&](unsigned role) { return kinds >> role & 1 ? &handles[role] : &memory[role]; };
    lookup.clear();
    Error error;
    ASSERT_EQ(gth_gather(context.get(), operand(0), operand(1), operand(2), nullptr, &error), GTH_OK) << error.message;
    context.expect_no_error();
    lookup.expect_rows({5, 0, 3});
    Tensor made;
    ASSERT_EQ(device::make(context.get(), GTH_OP_GATHER, *operand(0), *operand(1), nullptr, made.out(), &error), GTH_OK)
        << error.message;
    lookup.clear();
    const gth_tensor_desc from = GTH_TENSOR_DESC_HANDLE(made.get());
    ASSERT_EQ(gth_copy(context.get(), &from, operand(2), &error), GTH_OK) << error.message;
    context.sync();
    lookup.expect_rows({5, 0, 3});
  }
}

TEST_F(Many, APlanKeepsItsBoundTensor) {
  const Context context;
  Lookup lookup(6, 4, 3);
  lookup.pick({5, 0, 3});
  gth_tensor* bound = nullptr;
  const gth_tensor_desc params = lookup.params_desc();
  ASSERT_EQ(gth_tensor_borrow(&params, &bound, nullptr), GTH_OK);
  gth_plan* plan = nullptr;
  Error error;
  const gth_tensor_desc handle = GTH_TENSOR_DESC_HANDLE(bound);
  ASSERT_EQ(device::plan_gather(handle, lookup.indices_desc(), nullptr, &plan, &error), GTH_OK) << error.message;
  const auto run_with = [&](const void* table) {
    return gth_plan_run(context.get(), plan, GTH_OPEN, table, lookup.indices.data(), lookup.out.data(), &error);
  };
  ASSERT_EQ(run_with(nullptr), GTH_OK) << error.message;
  context.expect_no_error();
  lookup.expect_rows({5, 0, 3});
  lookup.clear();
  EXPECT_EQ(run_with(lookup.params.data()), GTH_E_HANDLE);
  EXPECT_EQ(gth_tensor_release(bound), GTH_OK);
  EXPECT_EQ(run_with(nullptr), GTH_E_HANDLE);
  context.sync();
  lookup.expect_unchanged();
  EXPECT_EQ(gth_plan_release(plan), GTH_OK);
}

TEST_F(Many, PackedRowsAreUnsupported) {
  const Context context;
  Lookup lookup(6, 4, 3);
  lookup.pick({5, 0, 3});
  gth_codec codec = GTH_CODEC_INIT;
  codec.code = GTH_CODE_UINT8;
  gth_tensor_desc params = lookup.params_desc(), out = lookup.out_desc();
  const gth_tensor_desc indices = lookup.indices_desc();
  params.dtype = out.dtype = GTH_DTYPE_FLOAT32;
  params.codec = &codec;
  Error error;
  EXPECT_EQ(gth_run(context.get(), GTH_OP_GATHER, &params, &indices, &out, nullptr, &error), GTH_E_UNSUPPORTED)
      << error.message;
  EXPECT_EQ(error.operand, GTH_OPERAND_PARAMS);
  gth_tensor* tensor = nullptr;
  EXPECT_EQ(gth_tensor_borrow(&params, &tensor, &error), GTH_E_UNSUPPORTED) << error.message;
  EXPECT_EQ(tensor, nullptr);
  context.expect_no_error();
  lookup.expect_unchanged();
}

}  // namespace
