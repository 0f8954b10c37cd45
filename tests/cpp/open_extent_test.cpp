#include "hostile.hpp"

// The largest n that a plan with an open extent accepts: all elements of each operand stay inside its memory, and those
// of the written operand do not overlap.
namespace {

using namespace hostile;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32, i64 = GTH_DTYPE_INT64;

// A description of memory that is not read. An extent of 0 means that the size of the memory is not known.
struct Layout {
  int32_t dtype;
  Shape shape, strides;
  int64_t offset, extent;

  gth_tensor_desc desc() const {
    gth_tensor_desc desc = describe(dtype, shape, nullptr, strides.empty() ? nullptr : strides.data());
    desc.offset = offset;
    desc.extent = extent;
    return desc;
  }
};

// Expects that a plan accepts n = largest, and rejects the next number.
void expect_largest(int64_t largest, const Operation& op, const Layout& table, const Layout& indices,
                    const Layout* rows = nullptr, const gth_options* options = nullptr) {
  const gth_tensor_desc t = table.desc(), i = indices.desc(), r = rows ? rows->desc() : gth_tensor_desc{};
  Plan plan;
  Error error;
  ASSERT_EQ(op.plan(&t, &i, rows ? calls::Operand(&r) : nullptr, options, plan.out(), &error), GTH_OK) << error.message;
  int32_t ndim = 0;
  int64_t shape[GTH_MAX_NDIM];
  for (int64_t n : {int64_t{0}, int64_t{1}, largest}) {
    EXPECT_EQ(calls::plan_infer(plan.get(), n, GTH_MAX_NDIM, &ndim, shape, &error), GTH_OK) << n << error.message;
  }
  const int32_t status = calls::plan_infer(plan.get(), largest + 1, GTH_MAX_NDIM, &ndim, shape, &error);
  expect_facts(status, error, {GTH_E_SIZE, GTH_OPERAND_PLAN, -1, -1, largest + 1, largest});
}

const Layout table{f32, {4, 2}, {}, 0, 0};

TEST(OpenExtent, MemoryOfIndicesLimitsN) {
  expect_largest(10, g, table, {i64, {GTH_OPEN}, {}, 0, 80});
  expect_largest(10, g, table, {i64, {GTH_OPEN}, {}, 0, 87});
  expect_largest(9, g, table, {i64, {GTH_OPEN}, {}, 1, 80});
  expect_largest(5, nd, table, {i64, {GTH_OPEN, 2}, {}, 0, 95});
  expect_largest(6, nd, table, {i64, {GTH_OPEN, 2}, {}, 0, 96});
}

TEST(OpenExtent, StridesOfIndicesLimitN) {
  expect_largest(6, g, table, {i64, {GTH_OPEN}, {16}, 0, 88});
  expect_largest(5, g, table, {i64, {GTH_OPEN}, {16}, 0, 87});
  expect_largest(10, g, table, {i64, {GTH_OPEN}, {-8}, 72, 80});
  expect_largest(9, g, table, {i64, {GTH_OPEN}, {-8}, 71, 80});
  expect_largest(4, nd, table, {i64, {GTH_OPEN, 2}, {-24, 8}, 72, 88});
}

TEST(OpenExtent, MemoryOfRowsLimitsN) {
  const Layout indices{i64, {GTH_OPEN}, {}, 0, 0}, dense{f32, {GTH_OPEN, 2}, {}, 0, 44};
  expect_largest(5, g, table, indices, &dense);
  const Layout strided{f32, {GTH_OPEN, 2}, {12, 4}, 4, 48};
  expect_largest(4, g, table, indices, &strided);
}

// The rows of n elements have a stride of 40 bytes.
TEST(OpenExtent, RowsThatWouldOverlapLimitN) {
  const gth_options options = with_axis(1);
  const Layout indices{i64, {GTH_OPEN}, {}, 0, 0};
  const Layout rows{f32, {4, GTH_OPEN}, {40, 4}, 0, 0};
  expect_largest(10, g, table, indices, &rows, &options);
  const Layout wide{f32, {4, GTH_OPEN}, {43, 8}, 0, 0};
  expect_largest(5, g, table, indices, &wide, &options);
}

TEST(OpenExtent, BatchesInTheTableLimitN) {
  const gth_options options = with_batch(1);
  expect_largest(3, g, {f32, {GTH_OPEN, 4}, {}, 0, 63}, {i64, {GTH_OPEN, 2}, {}, 0, 0}, nullptr, &options);
  expect_largest(2, g, {f32, {GTH_OPEN, 4}, {}, 0, 0}, {i64, {GTH_OPEN, 2}, {}, 0, 47}, nullptr, &options);
}

// The axis of the table is not a dim of the rows, so a run cannot set its extent.
TEST(OpenExtent, OpenAxisOfTheTableIsRejected) {
  for (const Operation& op : {calls::gather, calls::gather_elements}) {
    const Layout open{f32, {GTH_OPEN, 2}, {}, 0, 0}, indices{i64, {GTH_OPEN, 2}, {}, 0, 0};
    const gth_tensor_desc t = open.desc(), i = indices.desc();
    Plan plan;
    Error error;
    const int32_t status = op.plan(&t, &i, nullptr, nullptr, plan.out(), &error);
    expect_facts(status, error, {GTH_E_SHAPE, GTH_OPERAND_PARAMS, 0, -1, GTH_OPEN, 0});
  }
}

}  // namespace
