#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "conformance_operands.hpp"
#include "conformance_sums.hpp"

// Runs every recorded scatter through every form of the API: gth_make, handles, named functions, plans, shape queries.
namespace {

using conformance::Case;
using conformance::expect_bytes;
using conformance::expect_error;
using conformance::Handle;
using conformance::Memory;
using conformance::TensorText;

const calls::Operation& operation(const Case& test) {
  return test.op == "scatter" ? calls::scatter : test.op == "scatter_nd" ? calls::scatter_nd : calls::scatter_elements;
}

// Returns the elements of a target as dense bytes.
std::string elements_of(const TensorText& text, const std::vector<char>& memory) {
  const auto item = static_cast<size_t>(gth_dtype_size(text.dtype));
  if (text.strides.empty()) return std::string(memory.begin(), memory.end());
  int64_t count = 1;
  for (int64_t extent : text.shape) count *= extent;
  std::string result;
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number, at = text.offset;
    for (size_t d = text.shape.size(); d-- > 0; rest /= text.shape[d]) at += rest % text.shape[d] * text.strides[d];
    result.append(memory.data() + at, item);
  }
  return result;
}

void expect_target(const Case& test, const Memory& target, int32_t status, const gth_error& err) {
  expect_error(test, status, err);
  if (status == GTH_OK && test.error.status == GTH_OK)
    return expect_bytes(test, elements_of(test.params, target.bytes));
  EXPECT_TRUE(std::string(target.bytes.begin(), target.bytes.end()) == test.params.bytes)
      << test.name << ": an error wrote to the target";
}

void run_desc(const Case& test, int32_t threads) {
  const Memory target(test.params), indices(test.indices), updates(test.updates);
  gth_options options = test.options;
  options.threads = threads;
  gth_error err = GTH_ERROR_INIT;
  const int32_t status = operation(test).named(nullptr, &target.desc, &indices.desc, &updates.desc, &options, &err);
  expect_target(test, target, status, err);
}

void run_into(const Case& test) {
  const Memory target(test.params), indices(test.indices), updates(test.updates);
  const Handle t(test.params, target), i(test.indices, indices), u(test.updates, updates);
  gth_error err = GTH_ERROR_INIT;
  const int32_t status = operation(test).run(nullptr, t.get(), i.get(), u.get(), &test.options, &err);
  expect_target(test, target, status, err);
}

void run_planned(const Case& test) {
  const Memory target(test.params), indices(test.indices), updates(test.updates);
  gth_plan* plan = nullptr;
  gth_error err = GTH_ERROR_INIT;
  int32_t status = operation(test).plan(&target.desc, &indices.desc, &updates.desc, &test.options, &plan, &err);
  if (!status) {
    status = gth_plan_run(nullptr, plan, GTH_OPEN, target.desc.data, indices.desc.data,
                          const_cast<void*>(updates.desc.data), &err);
  }
  expect_target(test, target, status, err);
  EXPECT_EQ(gth_plan_release(plan), GTH_OK);
}

void expect_strings(const Case& test, const gth_tensor* handle) {
  const int64_t* offsets = nullptr;
  const void* bytes = nullptr;
  ASSERT_EQ(gth_tensor_strings(handle, &offsets, &bytes, nullptr), GTH_OK);
  const std::vector<int64_t> ends(offsets, offsets + test.out.string_ends.size());
  EXPECT_EQ(ends, test.out.string_ends) << test.name;
  EXPECT_EQ(std::string(static_cast<const char*>(bytes), static_cast<size_t>(ends.back())), test.out.bytes);
}

void run_functional(const Case& test) {
  const Memory target(test.params), indices(test.indices), updates(test.updates);
  const Handle t(test.params, target), i(test.indices, indices), u(test.updates, updates);
  Handle made;
  gth_error err = GTH_ERROR_INIT;
  const int32_t status = operation(test).make(nullptr, t.get(), i.get(), u.get(), &test.options, made.out(), &err);
  expect_error(test, status, err);
  EXPECT_EQ(made.get() != nullptr, status == GTH_OK) << test.name;
  EXPECT_TRUE(std::string(target.bytes.begin(), target.bytes.end()) == test.params.bytes) << test.name;
  if (status || test.error.status) return;
  if (test.params.dtype == GTH_DTYPE_STRING) return expect_strings(test, made.get());
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  ASSERT_EQ(gth_tensor_describe(made.get(), &desc, nullptr), GTH_OK);
  EXPECT_EQ(std::vector<int64_t>(desc.shape, desc.shape + desc.ndim), test.out.shape) << test.name;
  expect_bytes(test, std::string(static_cast<const char*>(desc.data), desc.data ? test.out.bytes.size() : 0));
}

void run_shape(const Case& test) {
  const Memory target(test.params), indices(test.indices);
  int64_t shape[GTH_MAX_NDIM];
  int32_t ndim = -1;
  gth_error err = GTH_ERROR_INIT;
  const int32_t status =
      operation(test).infer(&target.desc, &indices.desc, &test.options, GTH_MAX_NDIM, &ndim, shape, &err);
  const bool is_of_data = test.error.status == GTH_OK || test.error.status == GTH_E_INDEX;
  if (!is_of_data && test.error.operand != GTH_OPERAND_UPDATES) return expect_error(test, status, err);
  EXPECT_EQ(status, GTH_OK) << test.name << ": " << err.message;
  const bool is_same = std::vector<int64_t>(shape, shape + ndim) == test.updates.shape;
  EXPECT_EQ(is_same, is_of_data) << test.name;
}

void run(const Case& test) {
  run_functional(test);
  run_shape(test);
  if (test.params.dtype == GTH_DTYPE_STRING) return;
  for (int32_t threads : {1, 3}) run_desc(test, threads);
  run_into(test);
  run_planned(test);
}

class ScatterConformance : public testing::TestWithParam<const char*> {};

TEST_P(ScatterConformance, EveryFormMatchesTheRecordedCase) {
  const std::vector<Case> cases = conformance::read_file(std::string(GATHER_CASES) + "/scatter/" + GetParam() + ".txt");
  ASSERT_GT(cases.size(), 100u);
  size_t failed = 0;
  for (const Case& test : cases) {
    run(test);
    if (HasFailure() && ++failed > 20) break;
  }
  std::printf("scatter conformance %s: %zu cases\n", GetParam(), cases.size());
}

INSTANTIATE_TEST_SUITE_P(Profiles, ScatterConformance,
                         testing::Values("none", "tensorflow", "tensorflow_gpu", "onnx", "ort", "numpy_raise",
                                         "numpy_wrap", "numpy_clip", "torch", "jax_fill", "jax_clip", "random"),
                         [](const auto& file) { return std::string(file.param); });

}  // namespace
