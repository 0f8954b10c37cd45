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

}  // namespace
