#include "hostile.hpp"

// Shape queries with open extents, and the batches of ONNX Runtime. The expected shapes follow from the formulas of the
// header.
namespace {

using namespace hostile;

constexpr int64_t open = GTH_OPEN;

Shape infer(const Operation& op, const Shape& table, const Shape& indices, const gth_options& options) {
  const gth_tensor_desc t = describe(GTH_DTYPE_FLOAT32, table, nullptr);
  const gth_tensor_desc i = describe(GTH_DTYPE_INT64, indices, nullptr);
  int32_t ndim = 0;
  int64_t shape[GTH_MAX_NDIM];
  Error error;
  EXPECT_EQ(op.infer(&t, &i, &options, GTH_MAX_NDIM, &ndim, shape, &error), GTH_OK) << error.message;
  return Shape(shape, shape + ndim);
}

void expect_no_shape(const Operation& op, const Shape& table, const Shape& indices, const gth_options& options,
                     const Facts& facts) {
  const gth_tensor_desc t = describe(GTH_DTYPE_FLOAT32, table, nullptr);
  const gth_tensor_desc i = describe(GTH_DTYPE_INT64, indices, nullptr);
  int32_t ndim = 0;
  int64_t shape[GTH_MAX_NDIM];
  Error error;
  expect_facts(op.infer(&t, &i, &options, GTH_MAX_NDIM, &ndim, shape, &error), error, facts);
}

// params.shape[:b] == indices.shape[:b]. So an extent that is open in one of them is that of the other one.
TEST(Infer, KnownBatchExtentReplacesAnOpenOne) {
  const gth_options one = with_batch(1), two = with_batch(2);
  EXPECT_EQ(infer(calls::gather, {open, 5}, {3, 2}, one), (Shape{3, 2}));
  EXPECT_EQ(infer(calls::gather, {3, 5}, {open, 2}, one), (Shape{3, 2}));
  EXPECT_EQ(infer(calls::gather, {open, 5}, {open, 2}, one), (Shape{open, 2}));
  EXPECT_EQ(infer(calls::gather, {open, 4, 5}, {3, open, 2}, two), (Shape{3, 4, 2}));
  EXPECT_EQ(infer(calls::gather, {3, open, 5}, {open, 4, 2}, two), (Shape{3, 4, 2}));
  EXPECT_EQ(infer(calls::gather_nd, {open, 4, 5}, {3, 2, 1}, one), (Shape{3, 2, 5}));
  EXPECT_EQ(infer(calls::gather_nd, {3, 4, 5}, {open, 2, 1}, one), (Shape{3, 2, 5}));
  EXPECT_EQ(infer(calls::gather_nd, {open, open, 5}, {3, open, 2, 1}, two), (Shape{3, open, 2}));
  EXPECT_EQ(infer(calls::scatter, {open, 5}, {3, 2}, one), (Shape{3, 2}));
  EXPECT_EQ(infer(calls::gather_gradient, {open, 5}, {3, 2}, one), (Shape{3, 2}));
}

// The dims between the batch dims and the axis are those of params alone.
TEST(Infer, OpenExtentBeforeTheAxisStaysOpen) {
  EXPECT_EQ(infer(calls::gather, {3, open, 5}, {3, 2}, with_axis(2, 1)), (Shape{3, open, 2}));
  EXPECT_EQ(infer(calls::gather, {open, open, 5}, {3, 2}, with_axis(2, 1)), (Shape{3, open, 2}));
  EXPECT_EQ(infer(calls::gather, {open, 4, 5}, {2}, with_axis(1)), (Shape{open, 2, 5}));
  EXPECT_EQ(infer(calls::gather, {4, open}, {2, open}, with_axis(0)), (Shape{2, open, open}));
}

TEST(Infer, KnownBatchExtentsMustBeEqual) {
  expect_no_shape(calls::gather, {open, 4, 5}, {3, 6, 2}, with_batch(2),
                  {GTH_E_BATCH, GTH_OPERAND_INDICES, 1, -1, 6, 4});
  expect_no_shape(calls::gather, {4, open, 5}, {3, 6, 2}, with_batch(2),
                  {GTH_E_BATCH, GTH_OPERAND_INDICES, 0, -1, 3, 4});
}

TEST(Infer, OpenExtentsOfElementsFollowTheRuleOfExtents) {
  gth_options equal = with_axis(1), prefix = equal, broadcast = equal;
  equal.extents = GTH_EXTENTS_EQUAL;
  prefix.extents = GTH_EXTENTS_PREFIX;
  broadcast.extents = GTH_EXTENTS_BROADCAST;
  const Operation& op = calls::gather_elements;
  EXPECT_EQ(infer(op, {open, 5}, {3, 2}, equal), (Shape{3, 2}));
  EXPECT_EQ(infer(op, {3, 5}, {open, 2}, equal), (Shape{3, 2}));
  EXPECT_EQ(infer(op, {open, 5}, {open, 2}, equal), (Shape{open, 2}));
  EXPECT_EQ(infer(op, {3, open}, {3, 2}, equal), (Shape{3, 2}));
  EXPECT_EQ(infer(op, {3, 5}, {3, open}, equal), (Shape{3, open}));
  EXPECT_EQ(infer(op, {open, 5}, {3, 2}, prefix), (Shape{3, 2}));
  EXPECT_EQ(infer(op, {3, 5}, {open, 2}, prefix), (Shape{open, 2}));  // at most 3
  EXPECT_EQ(infer(op, {open, 5}, {3, 2}, broadcast), (Shape{3, 2}));
  EXPECT_EQ(infer(op, {3, 5}, {open, 2}, broadcast), (Shape{3, 2}));
  EXPECT_EQ(infer(op, {1, 5}, {open, 2}, broadcast), (Shape{open, 2}));
  EXPECT_EQ(infer(op, {open, 5}, {1, 2}, broadcast), (Shape{open, 2}));
}

gth_options ort(int64_t batch_dims) { return with_profile(GTH_PROFILE_ORT, batch_dims); }

// ONNX Runtime compares the number of tuples with the number of batches of params. Open extents have no number.
TEST(Infer, BatchesOfOnnxRuntimeMayDiffer) {
  const Operation& op = calls::gather_nd;
  EXPECT_EQ(infer(op, {2, 4, 3}, {6, 1}, ort(1)), (Shape{6, 3}));
  EXPECT_EQ(infer(op, {2, 3, 4}, {6, 5, 1}, ort(2)), (Shape{6, 5}));
  EXPECT_EQ(infer(op, {2, 3, 4}, {6, 1}, ort(2)), (Shape{6}));
  EXPECT_EQ(infer(op, {2, 3, 4}, {12, 1}, ort(2)), (Shape{12}));
  EXPECT_EQ(infer(op, {2, 3, open}, {open, 1}, ort(2)), (Shape{open}));
  EXPECT_EQ(infer(op, {open, 4, 3}, {6, 2, 1}, ort(1)), (Shape{6, 2, 3}));
  EXPECT_EQ(infer(op, {2, open, 3}, {2, 2, 1}, ort(1)), (Shape{2, 2, 3}));
  expect_no_shape(op, {2, 3, 4}, {7, 5, 1}, ort(2), {GTH_E_BATCH, GTH_OPERAND_INDICES, 0, -1, 35, 6});
  expect_no_shape(op, {0, 2, 4}, {1, 5, 1}, ort(2), {GTH_E_BATCH, GTH_OPERAND_INDICES, 0, -1, 5, 0});
}

// Nothing is selected without tuples, and nothing is copied without rows. So any number of batches is accepted.
TEST(Infer, BatchesOfOnnxRuntimeWithoutTuplesOrRowsMayDiffer) {
  const Operation& op = calls::gather_nd;
  EXPECT_EQ(infer(op, {0, 2, 4}, {0, 5, 1}, ort(2)), (Shape{0, 5}));
  EXPECT_EQ(infer(op, {0, 2, 4}, {3, 0, 1}, ort(2)), (Shape{3, 0}));
  EXPECT_EQ(infer(op, {0, 4}, {0, 1}, ort(1)), (Shape{0}));
  EXPECT_EQ(infer(op, {2, 4}, {0, 5, 1}, ort(1)), (Shape{0, 5}));
  EXPECT_EQ(infer(op, {2, 4, 0}, {3, 1, 1}, ort(1)), (Shape{3, 1, 0}));
  EXPECT_EQ(infer(op, {2, 4, 0}, {3, 1}, ort(1)), (Shape{3, 0}));
}

}  // namespace
