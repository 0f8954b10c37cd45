#include "device_test.hpp"

// Sizes beyond 2^31 and 2^32. They need the memory and the speed of a GPU.
namespace {

using device::Context;
using device::Error;
using device::Memory;
using device::Shape;

class Sizes : public device::DeviceTest {
 protected:
  // Skips the test if the device has too little memory.
  bool has_room(int64_t bytes) {
    if (device::why_not()) return false;
    gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
    EXPECT_EQ(gth_capabilities(&info, nullptr), GTH_OK);
    return info.device_memory[0] > bytes + (int64_t{1} << 30);
  }
};

#define NEED(bytes) \
  if (!has_room(bytes)) GTEST_SKIP() << "the CUDA device has too little memory"

constexpr int64_t billion = int64_t{1} << 30;

// H4: params of more than 2^31 elements and 2^33 bytes, rows near their end.
TEST_F(Sizes, H4_ManyParams) {
  constexpr int64_t rows = 2 * billion + 100, width = 4;
  NEED(rows * width);
  const Memory params(rows * width), out(3 * width);
  const std::vector<int64_t> picks{rows - 1, 0, rows - 77};
  const Memory indices(picks);
  for (size_t i = 0; i < 3; ++i) {
    const int32_t value = static_cast<int32_t>(1000 + i);
    device::copy(params.data() + picks[i] * width, &value, 4);
  }
  const Shape p_shape{rows, width}, i_shape{3}, o_shape{3, width};
  const gth_tensor_desc p = device::describe_on_device(GTH_DTYPE_INT8, p_shape, params.data());
  const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, i_shape, indices.data());
  const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_INT8, o_shape, out.data());
  const Context context;
  Error error;
  ASSERT_EQ(gth_gather(context.get(), &p, &i, &o, nullptr, &error), GTH_OK) << error.message;
  context.expect_no_error();
  int32_t found[3];
  device::copy(found, out.data(), 12);
  for (int i_row = 0; i_row < 3; ++i_row) EXPECT_EQ(found[i_row], 1000 + i_row);
}

// Tests more than 2^31 and more than 2^32 tuples of one byte. The last row must be correct, and the last invalid index
// must be found.
void expect_many_tuples(int64_t tuples) {
  const Memory params(device::Bytes{10, 11, 12, 13}), indices(tuples), out(tuples);
  device::fill(indices.data(), 1, tuples);
  const char last = 3, bad = 4;
  device::copy(indices.data() + tuples - 1, &last, 1);
  const Shape p_shape{4}, i_shape{tuples};
  const gth_tensor_desc p = device::describe_on_device(GTH_DTYPE_INT8, p_shape, params.data());
  const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_UINT8, i_shape, indices.data());
  const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_INT8, i_shape, out.data());
  const Context context;
  Error error;
  ASSERT_EQ(gth_gather(context.get(), &p, &i, &o, nullptr, &error), GTH_OK) << error.message;
  context.expect_no_error();
  for (const int64_t at : {int64_t{0}, int64_t{1} << 20, 2 * billion - 1, tuples - 2, tuples - 1}) {
    if (at < 0 || at >= tuples) continue;
    char found = 0;
    device::copy(&found, out.data() + at, 1);
    EXPECT_EQ(found, at == tuples - 1 ? 13 : 11) << at;
  }
  device::copy(indices.data() + tuples - 2, &bad, 1);
  ASSERT_EQ(gth_gather(context.get(), &p, &i, &o, nullptr, &error), GTH_OK) << error.message;
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, tuples - 2, 4, 4});
}

TEST_F(Sizes, C8_TuplesBeyond31Bits) {
  NEED(4 * billion + 16);
  expect_many_tuples(2 * billion - 1);
  expect_many_tuples(2 * billion + 3);
}

TEST_F(Sizes, TuplesBeyond32Bits) {
  NEED(8 * billion + 32);
  expect_many_tuples(4 * billion + 3);
}

// C7: an output of more than 2^32 bytes in long rows.
TEST_F(Sizes, C7_LargeOutput) {
  constexpr int64_t row = 3 << 20, picks = 2000;
  NEED(row * picks + 2 * row);
  const Memory params(2 * row), out(row * picks);
  device::fill(params.data(), 7, row);
  device::fill(params.data() + row, 9, row);
  std::vector<int32_t> rows(picks, 0);
  rows.back() = 1;
  const Memory indices(rows);
  const Shape p_shape{2, row}, i_shape{picks}, o_shape{picks, row};
  const gth_tensor_desc p = device::describe_on_device(GTH_DTYPE_INT8, p_shape, params.data());
  const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT32, i_shape, indices.data());
  const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_INT8, o_shape, out.data());
  const Context context;
  Error error;
  ASSERT_EQ(gth_gather(context.get(), &p, &i, &o, nullptr, &error), GTH_OK) << error.message;
  context.expect_no_error();
  for (const int64_t at : {int64_t{0}, row * 1366, row * (picks - 1) - 1, row * (picks - 1), row * picks - 1}) {
    char found = 0;
    device::copy(&found, out.data() + at, 1);
    EXPECT_EQ(found, at >= row * (picks - 1) ? 9 : 7) << at;
  }
}

}  // namespace
