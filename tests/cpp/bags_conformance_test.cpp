#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "conformance_sums.hpp"

// Runs every recorded call of gather_bags: into existing memory, into a new tensor, as a plan, and as a shape query.
namespace {

using conformance::Case;
using conformance::expect_bytes;
using conformance::expect_error;
using conformance::Memory;

// The operands of a case without its output.
struct Operands {
  explicit Operands(const Case& test)
      : params(test.params), indices(test.indices), bags(test.bags), weights(test.weights), options(test.options) {
    request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &params.desc, &indices.desc, nullptr, &options);
    if (test.bags.dtype) request.bags = &bags.desc;
    if (test.weights.dtype) request.weights = &weights.desc;
  }
  Operands(const Operands&) = delete;

  Memory params, indices, bags, weights;
  gth_options options;
  gth_request request;
};

// The output of a case, or a number of its dtype if the case has no output.
struct Output {
  explicit Output(const Case& test)
      : shape(test.out.shape), bytes(std::max<size_t>(test.out.bytes.size(), 16), '\xa5') {
    desc.dtype = test.params.dtype;
    desc.ndim = static_cast<int32_t>(shape.size());
    desc.shape = shape.data();
    desc.data = bytes.data();
  }
  Output(const Output&) = delete;

  void expect(const Case& test, int32_t status, const gth_error& err) const {
    expect_error(test, status, err);
    if (status == GTH_OK && test.error.status == GTH_OK)
      return expect_bytes(test, std::string(bytes.data(), test.out.bytes.size()));
    EXPECT_TRUE(bytes == std::vector<char>(bytes.size(), '\xa5')) << test.name << ": an error wrote to the output";
  }

  std::vector<int64_t> shape;
  std::vector<char> bytes;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
};

bool is_of_data(int32_t status) { return status == GTH_OK || status == GTH_E_INDEX || status == GTH_E_OFFSETS; }

// Sets the shape of the output of a call that fails because of its data.
void infer_shape(const Case& test, const Operands& operands, Output* out) {
  int64_t shape[GTH_MAX_NDIM];
  gth_tensor_desc form = GTH_TENSOR_DESC_INIT;
  gth_error err = GTH_ERROR_INIT;
  const int32_t status = gth_infer(&operands.request, &form, GTH_MAX_NDIM, shape, &err);
  if (!is_of_data(test.error.status)) return expect_error(test, status, err);
  ASSERT_EQ(status, GTH_OK) << test.name << ": " << err.message;
  EXPECT_EQ(form.dtype, test.params.dtype) << test.name;
  const std::vector<int64_t> found(shape, shape + form.ndim);
  if (test.error.status == GTH_OK) {
    EXPECT_EQ(found, test.out.shape) << test.name;
  }
  int64_t count = gth_dtype_size(form.dtype);
  for (int64_t extent : found) count *= extent;
  out->shape = found;
  out->bytes.assign(std::max<size_t>(static_cast<size_t>(count), 16), '\xa5');
  out->desc.shape = out->shape.data();
  out->desc.ndim = form.ndim;
  out->desc.data = out->bytes.data();
}

void run_into(const Case& test, int32_t threads) {
  Operands operands(test);
  Output out(test);
  infer_shape(test, operands, &out);
  operands.options.threads = threads;
  operands.request.rows = &out.desc;
  gth_error err = GTH_ERROR_INIT;
  out.expect(test, gth_run_request(nullptr, &operands.request, &err), err);
}

void run_new(const Case& test) {
  const Operands operands(test);
  gth_tensor* made = nullptr;
  gth_error err = GTH_ERROR_INIT;
  const int32_t status = gth_make(nullptr, &operands.request, &made, &err);
  expect_error(test, status, err);
  EXPECT_EQ(made != nullptr, status == GTH_OK) << test.name;
  if (status || test.error.status) return;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  ASSERT_EQ(gth_tensor_describe(made, &desc, nullptr), GTH_OK);
  EXPECT_EQ(std::vector<int64_t>(desc.shape, desc.shape + desc.ndim), test.out.shape) << test.name;
  expect_bytes(test, std::string(static_cast<const char*>(desc.data), desc.data ? test.out.bytes.size() : 0));
  EXPECT_EQ(gth_tensor_release(made), GTH_OK);
}

void run_planned(const Case& test) {
  Operands operands(test);
  Output out(test);
  infer_shape(test, operands, &out);
  operands.request.rows = &out.desc;
  gth_plan* plan = nullptr;
  gth_error err = GTH_ERROR_INIT;
  int32_t status = gth_plan_create(&operands.request, &plan, &err);
  if (!status) {
    gth_plan_args args = GTH_PLAN_ARGS_INIT;
    args.table = operands.params.desc.data;
    args.indices = operands.indices.desc.data;
    args.rows = out.bytes.data();
    args.bags = test.bags.dtype ? operands.bags.desc.data : nullptr;
    args.weights = test.weights.dtype ? operands.weights.desc.data : nullptr;
    status = gth_plan_run_args(nullptr, plan, &args, &err);
  }
  out.expect(test, status, err);
  EXPECT_EQ(gth_plan_release(plan), GTH_OK);
}

class BagsConformance : public testing::TestWithParam<const char*> {};

TEST_P(BagsConformance, EveryFormMatchesTheRecordedCase) {
  const std::vector<Case> cases = conformance::read_file(std::string(GATHER_CASES) + "/bags/" + GetParam() + ".txt");
  ASSERT_GT(cases.size(), 100u);
  size_t failed = 0;
  for (const Case& test : cases) {
    for (int32_t threads : {1, 3}) run_into(test, threads);
    run_new(test);
    run_planned(test);
    if (HasFailure() && ++failed > 20) break;
  }
  std::printf("bags conformance %s: %zu cases\n", GetParam(), cases.size());
}

INSTANTIATE_TEST_SUITE_P(Profiles, BagsConformance,
                         testing::Values("none", "tensorflow", "torch", "jax_fill", "jax_clip"),
                         [](const auto& file) { return std::string(file.param); });

}  // namespace
