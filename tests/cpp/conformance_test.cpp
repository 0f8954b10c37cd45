#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "conformance_operands.hpp"

// Runs every recorded case through every form of the API: gth_make, handles, named functions, plans, shape queries.
namespace {

using conformance::Case;
using conformance::make_handle;
using conformance::Memory;
using conformance::TensorText;

constexpr char untouched = static_cast<char>(0xa5);

const calls::Operation& operation(const Case& test) {
  return test.op == "gather" ? calls::gather : test.op == "gather_nd" ? calls::gather_nd : calls::gather_elements;
}

void expect_error(const Case& test, int32_t status, const gth_error& err) {
  EXPECT_EQ(status, test.error.status) << test.name << ": " << gth_status_name(status) << " " << err.message;
  if (status == GTH_OK || status != test.error.status) return;
  EXPECT_EQ(err.status, status) << test.name;
  expect_facts(test, err);
  EXPECT_NE(err.message[0], '\0') << test.name;
}

bool skips(const Case& test) { return test.options.bounds == GTH_BOUNDS_SKIP; }

// Compares a caller's output with the recorded bytes. With skip, these contain 0xa5 where nothing was written.
void expect_bytes(const Case& test, const std::string& found) { EXPECT_EQ(found, test.out.bytes) << test.name; }

// A new output contains zeros where a caller's output is unchanged. These are the 0xa5 runs of the recorded bytes.
void expect_allocated_bytes(const Case& test, const std::string& found) {
  if (!skips(test)) return expect_bytes(test, found);
  ASSERT_EQ(found.size(), test.out.bytes.size()) << test.name;
  for (size_t i = 0; i < found.size(); ++i) {
    const bool left_alone = test.out.bytes[i] == untouched && found[i] == '\0';
    EXPECT_TRUE(left_alone || found[i] == test.out.bytes[i]) << test.name << " byte " << i;
  }
}

void expect_shape(const Case& test, int32_t ndim, const int64_t* shape) {
  EXPECT_EQ(std::vector<int64_t>(shape, shape + ndim), test.out.shape) << test.name;
}

void expect_strings(const Case& test, const gth_tensor* handle) {
  const int64_t* offsets = nullptr;
  const void* bytes = nullptr;
  gth_error err = GTH_ERROR_INIT;
  ASSERT_EQ(gth_tensor_strings(handle, &offsets, &bytes, &err), GTH_OK) << test.name << err.message;
  const std::vector<int64_t> ends(offsets, offsets + test.out.string_ends.size());
  EXPECT_EQ(ends, test.out.string_ends) << test.name;
  expect_bytes(test, std::string(static_cast<const char*>(bytes), static_cast<size_t>(ends.back())));
}

void run_allocating(const Case& test, const Memory& params, const Memory& indices, int32_t threads) {
  gth_options options = test.options;
  options.threads = threads;
  gth_tensor* params_handle = make_handle(test.params, params);
  gth_tensor* indices_handle = make_handle(test.indices, indices);
  gth_tensor* out = nullptr;
  gth_error err = GTH_ERROR_INIT;
  const int32_t status = operation(test).make(nullptr, params_handle, indices_handle, nullptr, &options, &out, &err);
  expect_error(test, status, err);
  EXPECT_EQ(out != nullptr, status == GTH_OK) << test.name;
  if (out && test.error.status == GTH_OK) {
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    EXPECT_EQ(gth_tensor_describe(out, &desc, nullptr), GTH_OK);
    EXPECT_EQ(desc.dtype, test.out.dtype) << test.name;
    expect_shape(test, desc.ndim, desc.shape);
    if (desc.dtype == GTH_DTYPE_STRING) {
      expect_strings(test, out);
    } else {
      const std::string found(static_cast<const char*>(desc.data), desc.data ? test.out.bytes.size() : 0);
      expect_allocated_bytes(test, found);
    }
  }
  EXPECT_EQ(gth_tensor_release(out), GTH_OK);
  EXPECT_EQ(gth_tensor_release(indices_handle), GTH_OK);
  EXPECT_EQ(gth_tensor_release(params_handle), GTH_OK);
}

// The prefilled output of a case. It has the recorded shape, or one element if no output is expected.
struct Output {
  explicit Output(const Case& test)
      : shape(test.out.shape), bytes(std::max<size_t>(test.out.bytes.size(), test.error.status ? 16 : 0), untouched) {
    desc.dtype = test.params.dtype;
    desc.ndim = static_cast<int32_t>(shape.size());
    desc.shape = shape.data();
    desc.data = bytes.data();
    desc.extent = static_cast<int64_t>(bytes.size());
  }
  std::vector<int64_t> shape;
  std::vector<char> bytes;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
};

// Sets the shape that the output of a failing case would have. So the call fails because of its index, and not because
// of the shape. Returns false if there is no such shape because its size exceeds int64.
bool set_shape(const Case& test, const Memory& params, const Memory& indices, Output* out) {
  if (test.error.status == GTH_OK) return true;
  int64_t shape[GTH_MAX_NDIM];
  int32_t ndim = 0;
  const int32_t status =
      operation(test).infer(&params.desc, &indices.desc, &test.options, GTH_MAX_NDIM, &ndim, shape, nullptr);
  if (status) return status != GTH_E_SIZE;
  out->shape.assign(shape, shape + ndim);
  int64_t size = gth_dtype_size(test.params.dtype);
  for (int64_t extent : out->shape) {
    if (__builtin_mul_overflow(size, extent, &size)) size = INT64_MAX;
  }
  if (size > (1 << 20)) size = 16;  // a size error comes before anything is written
  out->bytes.assign(static_cast<size_t>(std::max<int64_t>(size, 1)), untouched);
  out->desc.ndim = ndim;
  out->desc.shape = out->shape.data();
  out->desc.data = out->bytes.data();
  out->desc.extent = 0;
  return true;
}

void expect_output(const Case& test, const Output& out, int32_t status, const gth_error& err) {
  expect_error(test, status, err);
  const std::string found(out.bytes.begin(), out.bytes.end());
  if (status == GTH_OK && test.error.status == GTH_OK) return expect_bytes(test, found);
  EXPECT_EQ(found, std::string(found.size(), untouched)) << test.name << ": an error wrote to the output";
}

void run_desc(const Case& test, const Memory& params, const Memory& indices, int32_t threads) {
  gth_options options = test.options;
  options.threads = threads;
  Output out(test);
  if (!set_shape(test, params, indices, &out)) return;
  gth_error err = GTH_ERROR_INIT;
  const int32_t status = operation(test).named(nullptr, &params.desc, &indices.desc, &out.desc, &options, &err);
  expect_output(test, out, status, err);
}

void run_into(const Case& test, const Memory& params, const Memory& indices) {
  Output out(test);
  if (!set_shape(test, params, indices, &out)) return;
  gth_tensor* handles[3] = {make_handle(test.params, params), make_handle(test.indices, indices), nullptr};
  gth_error err = GTH_ERROR_INIT;
  if (gth_tensor_borrow(&out.desc, &handles[2], &err) == GTH_OK) {
    const int32_t status = operation(test).run(nullptr, handles[0], handles[1], handles[2], &test.options, &err);
    expect_output(test, out, status, err);
  } else {  // a shape that no tensor can have is rejected by the check of shapes
    EXPECT_EQ(err.status, test.error.status) << test.name << ": " << err.message;
  }
  for (gth_tensor* handle : handles) EXPECT_EQ(gth_tensor_release(handle), GTH_OK);
}

void run_planned(const Case& test, const Memory& params, const Memory& indices) {
  Output out(test);
  if (!set_shape(test, params, indices, &out)) out.desc.ndim = 0;
  gth_plan* plan = nullptr;
  gth_error err = GTH_ERROR_INIT;
  int32_t status = operation(test).plan(&params.desc, &indices.desc, nullptr, &test.options, &plan, &err);
  if (!status) {
    status = gth_plan_run(nullptr, plan, GTH_OPEN, params.desc.data, indices.desc.data, out.bytes.data(), &err);
  }
  expect_output(test, out, status, err);
  EXPECT_EQ(gth_plan_release(plan), GTH_OK);
}

void run_shape(const Case& test, const Memory& params, const Memory& indices) {
  int64_t shape[GTH_MAX_NDIM];
  int32_t ndim = -1;
  gth_error err = GTH_ERROR_INIT;
  const int32_t status =
      operation(test).infer(&params.desc, &indices.desc, &test.options, GTH_MAX_NDIM, &ndim, shape, &err);
  const bool is_shape_error =
      test.error.status != GTH_OK && test.error.status != GTH_E_INDEX && test.error.status != GTH_E_SIZE;
  if (is_shape_error) return expect_error(test, status, err);
  if (test.error.status == GTH_E_SIZE) return;  // the number of elements may fit int64 although the bytes do not
  EXPECT_EQ(status, GTH_OK) << test.name << ": " << err.message;
  if (test.error.status == GTH_OK) expect_shape(test, ndim, shape);
}

void run(const Case& test) {
  const Memory params(test.params), indices(test.indices);
  for (int32_t threads : {1, 3}) run_allocating(test, params, indices, threads);
  run_shape(test, params, indices);
  if (test.params.dtype == GTH_DTYPE_STRING) return;
  for (int32_t threads : {1, 3}) run_desc(test, params, indices, threads);
  run_into(test, params, indices);
  run_planned(test, params, indices);
}

TEST(ConformanceFile, AnErrorNamesTheLine) {
  const std::string begin = "# a comment\n\ncase a\nop gather\n";
  const std::string tensors = "params int8 2 . 0102\nindices int8 . . 01\n";
  const std::pair<std::string, const char*> malformed[] = {
      {begin + "axis 1x\n\n", ":5: no number: 1x"},
      {begin + "axes 1\n\n", ":5: unknown key axes"},
      {begin + "axis 1 2\n\n", ":5: too many words: 2"},
      {begin + "bounds wrap\n\n", ":5: unknown word wrap"},
      {begin + "params int8 2 .\n\n", ":5: a word is missing"},
      {begin + "params int8 2 . 01g2\n\n", ":5: no bytes in hex: g2"},
      {begin + "params int8 2 offset=0;strides=1,1 0102\n\n", ":5: not one stride for each dim"},
      {begin + tensors + "\n", ":7: the case has no op, params, indices or outcome: a"},
      {begin + tensors + "expect ok int8 . 02\n", ":7: there is no empty line after a"},
      {"op gather\n", ":1: unknown word op"},
  };
  const std::string path = testing::TempDir() + "gather_malformed_cases.txt";
  for (const auto& [text, expected] : malformed) {
    std::ofstream(path, std::ios::binary) << text;
    conformance_file file;
    conformance_read(path.c_str(), &file);
    EXPECT_EQ(file.error, path + expected);
    EXPECT_EQ(file.count, 0);
    conformance_free(&file);
  }
  std::remove(path.c_str());
}

class Conformance : public testing::TestWithParam<const char*> {
 protected:
  void replay(const std::string& folder) {
    const std::vector<Case> cases = conformance::read_file(folder + "/" + GetParam() + ".txt");
    ASSERT_GT(cases.size(), 100u);
    size_t failed = 0;
    for (const Case& test : cases) {
      run(test);
      if (HasFailure() && ++failed > 20) break;
    }
    std::printf("conformance %s: %zu cases\n", GetParam(), cases.size());
  }
};

TEST_P(Conformance, EveryFormMatchesTheRecordedCase) { replay(GATHER_CASES); }

// Sanitizers, tiers and emulators do not run these cases, because they take longer than all others together.
class GridConformance : public Conformance {};

TEST_P(GridConformance, EveryFormMatchesTheOracle) { replay(GATHER_CASES "/../grid"); }

INSTANTIATE_TEST_SUITE_P(Profiles, Conformance, testing::ValuesIn(conformance::files),
                         [](const auto& file) { return conformance::test_name(file.param); });

INSTANTIATE_TEST_SUITE_P(Profiles, GridConformance, testing::ValuesIn(conformance::grid_files()),
                         [](const auto& file) { return conformance::test_name(file.param); });

}  // namespace
