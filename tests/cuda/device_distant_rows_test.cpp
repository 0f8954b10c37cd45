#include <cmath>

#include "../cpp/distant.hpp"
#include "device_test.hpp"
#include "emulation/emulation.hpp"

// Gathers on a device from operands with a distance of 3 GiB between rows, tuples or components. A product or a stride
// of 32 bits would address other memory. The operands are sparse memory of the host, which the emulated device can
// access.
namespace {

using hostile::Distant;
using hostile::numbers_from;
using hostile::Shape;

constexpr int32_t i32 = GTH_DTYPE_INT32, i64 = GTH_DTYPE_INT64;

class DistantRows : public device::DeviceTest {
 protected:
  void SetUp() override {
    device::DeviceTest::SetUp();
    gth_shutdown();  // The library queries the properties of a device once.
    gth_emulation_read_pageable(1);
  }
  void TearDown() override {
    gth_emulation_read_pageable(0);
    gth_shutdown();
    device::DeviceTest::TearDown();
  }
};

struct Layouts {
  const calls::Operation& op;
  Shape table, indices, rows;
  std::vector<int64_t> values, expected;
};

// The table has the elements 10, 11, ..
const Layouts layouts[] = {
    {calls::gather, {3, 2}, {4}, {4, 2}, {2, 0, 1, 2}, {14, 15, 10, 11, 12, 13, 14, 15}},
    {calls::gather_nd, {3, 2}, {4, 1}, {4, 2}, {2, 0, 1, 2}, {14, 15, 10, 11, 12, 13, 14, 15}},
    {calls::gather_nd, {3, 2}, {3, 2}, {3}, {2, 1, 0, 0, 1, 1}, {15, 10, 13}},
    {calls::gather_elements, {3, 2}, {3, 2}, {3, 2}, {2, 0, 0, 1, 1, 2}, {14, 11, 10, 13, 12, 15}},
};

TEST_F(DistantRows, GathersAddressOperandsBeyond2To31) {
  const device::Context context;
  for (const Layouts& layout : layouts) {
    for (size_t far = 0; far < 2; ++far) {
      for (const bool is_reversed : {false, true}) {
        const size_t rows_dim = far % layout.rows.size(), indices_dim = far % layout.indices.size();
        const Distant table(i32, layout.table, far, is_reversed, numbers_from(10, layout.table));
        const Distant indices(i64, layout.indices, indices_dim, is_reversed, layout.values);
        const Distant rows(i32, layout.rows, rows_dim, is_reversed, {});
        NEEDS(table && indices && rows);
        const gth_tensor_desc t = table.desc_on(GTH_DEVICE_CUDA), i = indices.desc_on(GTH_DEVICE_CUDA);
        const gth_tensor_desc r = rows.desc_on(GTH_DEVICE_CUDA);
        device::Error error;
        ASSERT_EQ(layout.op.named(context.get(), &t, &i, &r, nullptr, &error), GTH_OK) << error.message;
        context.sync();
        context.expect_no_error();
        EXPECT_EQ(rows.values(), layout.expected)
            << "operation " << layout.op.number << ", far dim " << far << (is_reversed ? ", reversed" : "");
      }
    }
  }
}

TEST_F(DistantRows, CopyAddressesOperandsBeyond2To31) {
  const device::Context context;
  const Distant source(i32, {3, 2}, 0, false, numbers_from(10, {3, 2})), target(i32, {3, 2}, 1, true, {});
  NEEDS(source && target);
  const gth_tensor_desc from = source.desc_on(GTH_DEVICE_CUDA), to = target.desc_on(GTH_DEVICE_CUDA);
  device::Error error;
  ASSERT_EQ(gth_copy(context.get(), &from, &to, &error), GTH_OK) << error.message;
  context.sync();
  EXPECT_EQ(target.values(), numbers_from(10, {3, 2}));
}

// What combines two numbers in a reduction.
int64_t combined(int32_t reduction, int64_t before, int64_t update) {
  return reduction == GTH_REDUCTION_NONE ? update : reduction == GTH_REDUCTION_ADD ? before + update : before * update;
}

// Updates that replace, that are multiplied after a sort, and that are added atomically.
TEST_F(DistantRows, ScattersAddressOperandsBeyond2To31) {
  const Shape shape{3, 2}, ids_shape{4}, updates_shape{4, 2};
  const std::vector<int64_t> ids{2, 0, 1, 2};
  for (const int64_t lines : {0, 1}) {
    gth_emulation_lines_from(lines);
    for (const int32_t reduction : {GTH_REDUCTION_NONE, GTH_REDUCTION_MUL, GTH_REDUCTION_ADD}) {
      for (size_t far = 0; far < 2; ++far) {
        for (const bool is_reversed : {false, true}) {
          const device::Context context;
          const Distant target(i32, shape, far, is_reversed, numbers_from(10, shape));
          const Distant indices(i64, ids_shape, 0, is_reversed, ids);
          const Distant updates(i32, updates_shape, far, is_reversed, numbers_from(2, updates_shape));
          NEEDS(target && indices && updates);
          std::vector<int64_t> expected = numbers_from(10, shape);
          for (size_t k = 0; k < 8; ++k) {
            int64_t& to = expected[static_cast<size_t>(ids[k / 2]) * 2 + k % 2];
            to = combined(reduction, to, static_cast<int64_t>(k) + 2);
          }
          const gth_tensor_desc t = target.desc_on(GTH_DEVICE_CUDA), i = indices.desc_on(GTH_DEVICE_CUDA);
          const gth_tensor_desc u = updates.desc_on(GTH_DEVICE_CUDA);
          gth_options options = GTH_OPTIONS_INIT;
          options.reduction = reduction;
          device::Error error;
          ASSERT_EQ(gth_run(context.get(), GTH_OP_SCATTER, &t, &i, &u, &options, &error), GTH_OK) << error.message;
          context.expect_no_error();
          EXPECT_EQ(target.values(), expected) << "reduction " << reduction << ", far dim " << far
                                               << (is_reversed ? ", reversed" : "") << ", lines " << lines;
        }
      }
    }
  }
  gth_emulation_lines_from(0);
}

// Elements whose distances exceed 32 bits. Their numbers are equal in the lower half, so the sort needs both halves.
TEST_F(DistantRows, NumbersOfSlicesExceedKeys) {
  constexpr int64_t rows = 3, apart = int64_t{1} << 32;
  const Shape shape{rows, 2}, strides{apart, 1};
  const device::Context context;
  for (const int32_t reduction : {GTH_REDUCTION_NONE, GTH_REDUCTION_MUL, GTH_REDUCTION_ADD}) {
    for (const int64_t count : {9, 5000}) {
      const hostile::Sparse memory(rows * apart);
      NEEDS(memory);
      memory.keep_small_pages();
      device::describe(memory.data(), rows * apart);
      std::vector<int64_t> tuples;
      std::vector<uint8_t> values, expected{1, 2, 3, 4, 5, 6};
      for (int64_t k = 0; k < count; ++k) {
        const int64_t row = k * 7 % 5 % rows, column = k * k % 3 % 2;
        tuples.insert(tuples.end(), {row, column});
        values.push_back(static_cast<uint8_t>(3 + 2 * k));
        uint8_t& to = expected[static_cast<size_t>(row * 2 + column)];
        to = static_cast<uint8_t>(combined(reduction, to, values.back()));
      }
      for (int64_t e = 0; e < 2 * rows; ++e) memory.data()[e / 2 * apart + e % 2] = static_cast<char>(1 + e);
      const Shape tuples_shape{count, 2}, updates_shape{count};
      const device::Memory indices(tuples), updates(values);
      gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_UINT8, shape, memory.data());
      t.strides = strides.data();
      const gth_tensor_desc i = device::describe_on_device(i64, tuples_shape, indices.data());
      const gth_tensor_desc u = device::describe_on_device(GTH_DTYPE_UINT8, updates_shape, updates.data());
      gth_options options = GTH_OPTIONS_INIT;
      options.reduction = reduction;
      device::Error error;
      ASSERT_EQ(gth_run(context.get(), GTH_OP_SCATTER_ND, &t, &i, &u, &options, &error), GTH_OK) << error.message;
      context.expect_no_error();
      for (int64_t e = 0; e < 2 * rows; ++e) {
        EXPECT_EQ(static_cast<uint8_t>(memory.data()[e / 2 * apart + e % 2]), expected[static_cast<size_t>(e)])
            << "reduction " << reduction << ", " << count << " updates, element " << e;
      }
      device::forget_described();
    }
  }
}

// The updates of a long slice are some MiB apart.
TEST_F(DistantRows, UpdatesOfALongSliceBeyond2To31) {
  constexpr int64_t apart = int64_t{8} << 20;
  const int64_t count = gather::cuda::least_long;
  const Shape shape{2}, updates_shape{count}, strides{apart};
  const hostile::Sparse memory(count * apart);
  NEEDS(memory);
  memory.keep_small_pages();
  device::describe(memory.data(), count * apart);
  float sum = 0.5f;
  for (int64_t k = 0; k < count; ++k) {
    const float value = std::ldexp(static_cast<float>(1 + k % 97), static_cast<int>(k % 20) - 10);
    std::memcpy(memory.data() + k * apart, &value, 4);
    sum += value;
  }
  const device::Context context;
  const device::Memory target(std::vector<float>{7.0f, 0.5f});
  const device::Memory indices(std::vector<int64_t>(static_cast<size_t>(count), 1));
  const gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_FLOAT32, shape, target.data());
  const gth_tensor_desc i = device::describe_on_device(i64, updates_shape, indices.data());
  gth_tensor_desc u = device::describe_on_device(GTH_DTYPE_FLOAT32, updates_shape, memory.data());
  u.strides = strides.data();
  gth_options options = GTH_OPTIONS_INIT;
  options.reduction = GTH_REDUCTION_ADD;
  device::Error error;
  ASSERT_EQ(gth_run(context.get(), GTH_OP_SCATTER, &t, &i, &u, &options, &error), GTH_OK) << error.message;
  context.expect_no_error();
  std::vector<float> found(2);
  device::copy(found.data(), target.data(), 8);
  EXPECT_EQ(found, (std::vector<float>{7.0f, sum}));
}

}  // namespace
