#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "conformance_sums.hpp"

// Runs every recorded gradient of a gather into a new tensor and into memory of the caller.
namespace {

using conformance::Case;
using conformance::Handle;
using conformance::Memory;

const calls::Operation& operation(const Case& test) {
  return test.op == "gather_gradient"      ? calls::gather_gradient
         : test.op == "gather_nd_gradient" ? calls::gather_nd_gradient
                                           : calls::gather_elements_gradient;
}

void run_new(const Case& test) {
  const Memory gradient(test.updates), indices(test.indices);
  const Handle g(test.updates, gradient), i(test.indices, indices);
  Handle made;
  gth_error err = GTH_ERROR_INIT;
  gth_tensor_desc table = Memory(test.params).desc;
  table.data = nullptr;
  const int32_t status = operation(test).make(nullptr, &table, i.get(), g.get(), &test.options, made.out(), &err);
  conformance::expect_error(test, status, err);
  EXPECT_EQ(made.get() != nullptr, status == GTH_OK) << test.name;
  if (status || test.error.status) return;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  ASSERT_EQ(gth_tensor_describe(made.get(), &desc, nullptr), GTH_OK);
  EXPECT_EQ(desc.dtype, test.out.dtype) << test.name;
  EXPECT_EQ(std::vector<int64_t>(desc.shape, desc.shape + desc.ndim), test.out.shape) << test.name;
  const size_t bytes = desc.data ? test.out.bytes.size() : 0;
  conformance::expect_bytes(test, std::string(static_cast<const char*>(desc.data), bytes));
}

// Writes into memory that does not contain zeros.
void run_desc(const Case& test, int32_t threads) {
  const Memory gradient(test.updates), indices(test.indices);
  Memory out(test.params);
  const std::vector<char> before(out.bytes.size(), '\xa5');
  out.bytes = before;
  out.desc.data = out.bytes.data();
  gth_options options = test.options;
  options.threads = threads;
  gth_error err = GTH_ERROR_INIT;
  const int32_t status = operation(test).named(nullptr, &out.desc, &indices.desc, &gradient.desc, &options, &err);
  conformance::expect_error(test, status, err);
  if (status == GTH_OK && test.error.status == GTH_OK)
    return conformance::expect_bytes(test, std::string(out.bytes.begin(), out.bytes.end()));
  EXPECT_EQ(out.bytes, before) << test.name << ": an error wrote to the output";
}

class GradientConformance : public testing::TestWithParam<const char*> {};

TEST_P(GradientConformance, EveryFormMatchesTheRecordedCase) {
  const auto cases = conformance::read_file(std::string(GATHER_CASES) + "/gradient/" + GetParam() + ".txt");
  ASSERT_GT(cases.size(), 100u);
  for (const Case& test : cases) {
    run_new(test);
    for (int32_t threads : {1, 3}) run_desc(test, threads);
  }
  std::printf("gradient conformance %s: %zu cases\n", GetParam(), cases.size());
}

INSTANTIATE_TEST_SUITE_P(Profiles, GradientConformance,
                         testing::Values("none", "tensorflow", "torch", "jax_fill", "jax_clip", "random"),
                         [](const auto& file) { return std::string(file.param); });

}  // namespace
