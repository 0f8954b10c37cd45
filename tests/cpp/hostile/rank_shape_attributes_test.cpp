#include <cstddef>

#include "hostile.hpp"

// Hostile ranks, shapes and attributes.
namespace {

using namespace hostile;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32;
constexpr int32_t axis_field = offsetof(gth_options, axis);
constexpr int32_t batch_field = offsetof(gth_options, batch_dims);

Facts axis_fault(int64_t value, int64_t limit) {
  return {GTH_E_AXIS, GTH_OPERAND_OPTIONS, axis_field, -1, value, limit};
}
Facts batch_fault(int64_t value, int64_t limit) {
  return {GTH_E_BATCH, GTH_OPERAND_OPTIONS, batch_field, -1, value, limit};
}

// Expects that the shape query has the same error as the operation.
void expect_shape_fault(const Call& call, const Facts& facts) {
  int64_t shape[2] = {-7, -7};
  int32_t ndim = -7;
  Error error;
  expect_facts(call.op.infer(&call.params, &call.indices, call.options, 2, &ndim, shape, &error), error, facts,
               "shape");
  EXPECT_EQ(ndim, -7);
  EXPECT_EQ(shape[0], -7);
}

TEST(Hostile, A1_GatherFromScalarIsRejected) {
  const Array params(f32, {}), indices = indices64({1}, {0}), out(f32, {1});
  const Call call{g, params.desc(), indices.desc()};
  const Facts facts{GTH_E_RANK, GTH_OPERAND_PARAMS, -1, -1, 0, 1};
  expect_refused(call, out, facts);
  expect_shape_fault(call, facts);
}

TEST(Hostile, A2_GatherNdFromScalarIsRejected) {
  const Array params(f32, {}), indices = indices64({1, 1}, {0}), out(f32, {1});
  expect_refused({nd, params.desc(), indices.desc()}, out, {GTH_E_RANK, GTH_OPERAND_PARAMS, -1, -1, 0, 1});
}

TEST(Hostile, A3_GatherNdByScalarIsRejected) {
  const Array params(f32, {2, 2}), indices = indices64({}, {0}), out(f32, {2});
  expect_refused({nd, params.desc(), indices.desc()}, out, {GTH_E_RANK, GTH_OPERAND_INDICES, -1, -1, 0, 1});
}

TEST(Hostile, A4_TuplesWithoutComponentsSelectEverything) {
  const Array params(f32, {2, 2}), indices = indices64({0}, {});
  expect_gathered({nd, params.desc(), indices.desc()}, {2, 2}, params.bytes());
  const gth_options tensorflow = with_profile(GTH_PROFILE_TENSORFLOW);
  expect_gathered({nd, params.desc(), indices.desc(), &tensorflow}, {2, 2}, params.bytes());
}

TEST(Hostile, A4_TuplesWithoutComponentsAreRejectedByOnnx) {
  const Array params(f32, {2, 2}), indices = indices64({0}, {}), out(f32, {2, 2});
  const gth_options onnx = with_profile(GTH_PROFILE_ONNX);
  expect_refused({nd, params.desc(), indices.desc(), &onnx}, out, {GTH_E_SHAPE, GTH_OPERAND_INDICES, 0, -1, 0, 1});
}

TEST(Hostile, A5_TupleLongerThanParamsIsRejected) {
  const Array params(f32, {2, 2}), indices = indices64({1, 3}, {0, 0, 0}), out(f32, {1});
  expect_refused({nd, params.desc(), indices.desc()}, out, {GTH_E_SHAPE, GTH_OPERAND_INDICES, 1, -1, 3, 2});
}

TEST(Hostile, A6_TupleOfInt64MaxIsRejected) {
  const Array params(f32, {2, 2}), out(f32, {0});
  const Shape shape{0, INT64_MAX};
  const Call call{nd, params.desc(), describe(GTH_DTYPE_INT64, shape, nullptr)};
  const Facts facts{GTH_E_SHAPE, GTH_OPERAND_INDICES, 1, -1, INT64_MAX, 2};
  expect_refused(call, out, facts);
  expect_shape_fault(call, facts);
}

TEST(Hostile, A7_NewTensorsWithNegativeDimsAreRejected) {
  char memory[8] = {};
  for (int64_t extent : {int64_t{-1}, INT64_MIN, int64_t{-5}}) {
    const Shape shape{3, extent};
    const gth_tensor_desc desc = describe(f32, shape, memory);
    const Facts facts{GTH_E_SHAPE, GTH_OPERAND_TENSOR, 1, -1, extent, 0};
    Error error;
    gth_tensor* out = reinterpret_cast<gth_tensor*>(memory);
    expect_facts(gth_tensor_borrow(&desc, &out, &error), error, facts);
    EXPECT_EQ(out, nullptr);
    expect_facts(gth_tensor_alloc(nullptr, f32, 2, shape.data(), &out, &error), error, facts);
    EXPECT_EQ(out, nullptr);
  }
}

TEST(Hostile, A7_NegativeDimsInDescriptionsAreRejected) {
  const Array params(f32, {2, 2}), indices = indices64({1}, {0}), out(f32, {1, 2});
  for (int64_t extent : {int64_t{-1}, INT64_MIN}) {
    const Shape shape{2, extent};
    expect_refused({g, describe(f32, shape, params.data()), indices.desc()}, out,
                   {GTH_E_SHAPE, GTH_OPERAND_PARAMS, 1, -1, extent, 0});
    expect_refused({g, params.desc(), describe(GTH_DTYPE_INT64, shape, indices.data())}, out,
                   {GTH_E_SHAPE, GTH_OPERAND_INDICES, 1, -1, extent, 0});
  }
}

TEST(Hostile, A8_NewTensorsOfInvalidRankAreRejected) {
  for (int32_t ndim : {-1, 65, INT32_MAX, INT32_MIN}) {
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    desc.dtype = f32;
    desc.ndim = ndim;
    desc.shape = reinterpret_cast<const int64_t*>(16);  // reading it would fault
    desc.strides = desc.shape;
    const Facts facts{GTH_E_RANK, GTH_OPERAND_TENSOR, -1, -1, ndim, GTH_MAX_NDIM};
    Error error;
    gth_tensor* out = nullptr;
    expect_facts(gth_tensor_borrow(&desc, &out, &error), error, facts);
    expect_facts(gth_tensor_alloc(nullptr, f32, ndim, desc.shape, &out, &error), error, facts);
  }
}

TEST(Hostile, A8_InvalidRanksInDescriptionsAreRejected) {
  const Array params(f32, {2, 2}), indices = indices64({1}, {0}), out(f32, {1, 2});
  for (int32_t ndim : {-1, 65, INT32_MAX}) {
    gth_tensor_desc bad = params.desc();
    bad.ndim = ndim;
    bad.shape = reinterpret_cast<const int64_t*>(16);
    expect_refused({g, bad, indices.desc()}, out, {GTH_E_RANK, GTH_OPERAND_PARAMS, -1, -1, ndim, GTH_MAX_NDIM});
    bad.dtype = GTH_DTYPE_INT64;
    expect_refused({nd, params.desc(), bad}, out, {GTH_E_RANK, GTH_OPERAND_INDICES, -1, -1, ndim, GTH_MAX_NDIM});
    bad.dtype = f32;
    expect_fault({g, params.desc(), indices.desc()}, bad,
                 {GTH_E_RANK, GTH_OPERAND_OUT, -1, -1, ndim, ndim == 65 ? 64 : GTH_MAX_NDIM});
  }
}

TEST(Hostile, A9_IndexIntoEmptyDimIsRejected) {
  const Array params(f32, {0, 4}), indices = indices64({2, 1}, {0, 0}), out(f32, {2, 4});
  expect_refused({nd, params.desc(), indices.desc()}, out, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 0, 0, 0});
}

TEST(Hostile, A10_NoTuplesIntoEmptyDimGiveAnEmptyOutput) {
  const Array params(f32, {0, 4}), indices = indices64({0, 1}, {});
  expect_gathered({nd, params.desc(), indices.desc()}, {0, 4}, {});
}

TEST(Hostile, A11_RowsOfNoBytesAreAccepted) {
  const Array indices = indices64({2}, {0, 2});
  const Shape shape{3, 0};
  const gth_tensor_desc params = describe(f32, shape, reinterpret_cast<const void*>(1));  // must not be read
  expect_gathered({g, params, indices.desc()}, {2, 0}, {});
}

TEST(Hostile, A12_ComponentIntoEmptyDimIsRejected) {
  const Array params(f32, {3, 0}), indices = indices64({1, 2}, {0, 0}), out(f32, {1});
  expect_refused({nd, params.desc(), indices.desc()}, out, {GTH_E_INDEX, GTH_OPERAND_INDICES, 1, 0, 0, 0});
}

TEST(Hostile, A13_DifferentBatchExtentsAreRejected) {
  const Array params(f32, {3, 3}), indices = indices64({2, 1}, {1, 2}), out(f32, {2});
  const gth_options onnx = with_profile(GTH_PROFILE_ONNX, 1), plain = with_batch(1);
  const Facts facts{GTH_E_BATCH, GTH_OPERAND_INDICES, 0, -1, 2, 3};
  expect_refused({nd, params.desc(), indices.desc(), &onnx}, out, facts);
  expect_refused({nd, params.desc(), indices.desc(), &plain}, out, facts);
  expect_refused({g, params.desc(), indices.desc(), &plain}, out, facts);
  expect_shape_fault({nd, params.desc(), indices.desc(), &onnx}, facts);
}

// ONNX Runtime divides the number of tuples by the number of batches. The remainder must be 0.
TEST(Hostile, A13_TuplesMustBeAMultipleOfBatches) {
  const gth_options ort = with_profile(GTH_PROFILE_ORT, 1);
  const Array params(f32, {2, 3}), fine = indices64({4, 1}, {0, 1, 2, 0}), odd = indices64({3, 1}, {0, 1, 2});
  expect_gathered({nd, params.desc(), fine.desc(), &ort}, {4}, rows_of(params, 4, {0, 1, 5, 3}));
  const Facts facts{GTH_E_BATCH, GTH_OPERAND_INDICES, 0, -1, 3, 2};
  expect_refused({nd, params.desc(), odd.desc(), &ort}, Array(f32, {3}), facts);
  expect_shape_fault({nd, params.desc(), odd.desc(), &ort}, facts);
}

// If the number of tuples exceeds int64, the error is the size, for any number of batches.
TEST(Hostile, A13_MoreTuplesThanInt64AreRejected) {
  constexpr int64_t many = int64_t{1} << 32;
  const gth_options ort = with_profile(GTH_PROFILE_ORT, 1);
  const Array memory(f32, {7, 3});
  const Shape indices_shape{many, many, 1}, out_shape{many, many};
  for (const int64_t batches : {2, 7}) {  // 2^63 - 1 is a multiple of 7 and not of 2
    const Shape params_shape{batches, 3};
    const Call call{nd, describe(f32, params_shape, memory.data()),
                    describe(GTH_DTYPE_INT64, indices_shape, memory.data()), &ort};
    expect_shape_fault(call, {GTH_E_SIZE, GTH_OPERAND_OUT, -1, -1, many, INT64_MAX});
    Error error;
    const gth_tensor_desc out = describe(f32, out_shape, memory.data());
    expect_facts(nd.named(nullptr, &call.params, &call.indices, &out, &ort, &error), error,
                 {GTH_E_SIZE, GTH_OPERAND_INDICES, -1, -1, many, INT64_MAX});
  }
}

TEST(Hostile, A13_MoreBatchesThanInt64AreRejected) {
  constexpr int64_t many = int64_t{1} << 32;
  const gth_options ort = with_profile(GTH_PROFILE_ORT, 2);
  const Array memory(f32, {4}), indices = indices64({5, 1}, {0, 0, 0, 0, 0});
  const Shape params_shape{many, many, 3};
  expect_shape_fault({nd, describe(f32, params_shape, memory.data()), indices.desc(), &ort},
                     {GTH_E_BATCH, GTH_OPERAND_INDICES, 0, -1, 5, INT64_MAX});
}

TEST(Hostile, A14_InvalidBatchDimsOfGatherNdAreRejected) {
  const Array params(f32, {2, 2}), indices = indices64({2, 1}, {0, 0}), out(f32, {2});
  for (int64_t batch : {int64_t{-1}, INT64_MIN, INT64_MAX}) {
    for (int32_t profile : {0, GTH_PROFILE_ONNX, GTH_PROFILE_TENSORFLOW}) {
      const gth_options options = with_profile(profile, batch);
      const Call call{nd, params.desc(), indices.desc(), &options};
      expect_refused(call, out, batch_fault(batch, 2));
      expect_shape_fault(call, batch_fault(batch, 2));
    }
  }
}

TEST(Hostile, A14_MessagesHaveTheValidBatchDims) {
  const Array params(f32, {2, 2}), indices = indices64({2, 1}, {0, 0}), out(f32, {2});
  const gth_tensor_desc p = params.desc(), i = indices.desc(), o = out.desc();
  const gth_options options = with_batch(3);
  Error error;
  EXPECT_EQ(gth_gather(nullptr, &p, &i, &o, &options, &error), GTH_E_BATCH);
  EXPECT_STREQ(error.message, "options: batch_dims is 3, valid are [-2, 1]");
  EXPECT_EQ(gth_gather_nd(nullptr, &p, &i, &o, &options, &error), GTH_E_BATCH);
  EXPECT_STREQ(error.message, "options: batch_dims is 3, valid are [0, 1]");
}

TEST(Hostile, A14_BatchDimsBeforeTheirOpsetAreRejected) {
  const Array params(f32, {2, 2}), indices = indices64({2, 1}, {0, 0}), out(f32, {2});
  gth_options options = with_profile(GTH_PROFILE_ONNX, 1);
  options.opset = 11;
  expect_refused({nd, params.desc(), indices.desc(), &options}, out, batch_fault(1, 0));
}

TEST(Hostile, A15_BatchDimsEqualToTheRankAreRejected) {
  const Array params(f32, {5}), indices = indices64({3}, {0, 1, 2}), out(f32, {3});
  const gth_options options = with_batch(1);
  expect_refused({g, params.desc(), indices.desc(), &options}, out, batch_fault(1, 1));
}

TEST(Hostile, A16_BatchDimsBeyondBothRanksAreRejected) {
  const Array params(f32, {3, 2}), indices = indices64({1}, {0}), out(f32, {1, 2});
  for (int64_t batch : {int64_t{10}, INT64_MAX, INT64_MIN, int64_t{-2}}) {
    const gth_options options = with_batch(batch);
    expect_refused({g, params.desc(), indices.desc(), &options}, out, batch_fault(batch, 1));
  }
}

TEST(Hostile, A17_AxisBeyondTheRankIsRejected) {
  const Array params(f32, {2, 2}), indices = indices64({1}, {0}), out(f32, {1, 2});
  for (int64_t axis : {int64_t{2}, INT64_MAX, int64_t{1} << 32}) {
    const gth_options options = with_axis(axis);
    const Call call{g, params.desc(), indices.desc(), &options};
    expect_refused(call, out, axis_fault(axis, 2));
    expect_shape_fault(call, axis_fault(axis, 2));
  }
}

TEST(Hostile, A18_AxisOfInt64MinIsRejected) {
  const Array params(f32, {1, 1}), indices = indices64({1}, {16}), out(f32, {1, 1});
  const gth_options options = with_axis(INT64_MIN);
  expect_refused({g, params.desc(), indices.desc(), &options}, out, axis_fault(INT64_MIN, 2));
}

TEST(Hostile, A19_LowestAxisIsAcceptedAndOneBelowRejected) {
  const Array params(f32, {2, 2}), indices = indices64({1}, {1}), out(f32, {1, 2});
  const gth_options below = with_axis(-3), lowest = with_axis(-2);
  expect_refused({g, params.desc(), indices.desc(), &below}, out, axis_fault(-3, 2));
  expect_gathered({g, params.desc(), indices.desc(), &lowest}, {1, 2}, rows_of(params, 8, {1}));
}

TEST(Hostile, A20_AxisBelowBatchDimsIsRejected) {
  const Array params(f32, {2, 3, 4}), indices = indices64({2, 5}, std::vector<int64_t>(10)), out(f32, {2, 5, 4});
  const gth_options options = with_axis(0, 1);
  expect_refused({g, params.desc(), indices.desc(), &options}, out, axis_fault(0, 1));
}

TEST(Hostile, A20_AxisOfGatherNdIsRejected) {
  const Array params(f32, {2, 2}), indices = indices64({1, 1}, {0}), out(f32, {1, 2});
  const gth_options options = with_axis(0);
  expect_refused({nd, params.desc(), indices.desc(), &options}, out, axis_fault(0, 0));
}

TEST(Hostile, A20_AxisWithoutHasAxisIsRejected) {
  const Array params(f32, {2, 2}), indices = indices64({1}, {0}), out(f32, {1, 2});
  gth_options options = GTH_OPTIONS_INIT;
  options.axis = 1;
  expect_refused({g, params.desc(), indices.desc(), &options}, out, axis_fault(1, 0));
}

TEST(Hostile, A21_SumOfRanksBeyondTheHighestIsRejected) {
  const Array params(f32, Shape(40, 1)), indices = indices64(Shape(40, 1), {0}), out(f32, {1});
  const Call call{g, params.desc(), indices.desc()};
  const Facts facts{GTH_E_RANK, GTH_OPERAND_OUT, -1, -1, 79, GTH_MAX_NDIM};
  const Bytes before = out.bytes();
  expect_fault(call, out.desc(), facts);
  EXPECT_TRUE(out.bytes() == before);
  expect_shape_fault(call, facts);
  const Tensor p(call.params), i(call.indices);
  gth_tensor* made = nullptr;
  Error error;
  expect_facts(calls::gather.make(nullptr, p.get(), i.get(), nullptr, nullptr, &made, &error), error, facts,
               "allocating");
}

TEST(Hostile, A22_HighestRankIsAccepted) {
  const Array params(f32, Shape(64, 1)), indices = indices64({1}, {0});
  expect_gathered({g, params.desc(), indices.desc()}, Shape(64, 1), params.bytes());
  const Array tuple = indices64({64}, std::vector<int64_t>(64));
  expect_gathered({nd, params.desc(), tuple.desc()}, {}, params.bytes());
}

TEST(Hostile, A23_IndicesWithoutIntegerTypeAreRejected) {
  const Array params(f32, {2, 2}), indices = indices64({1}, {0}), out(f32, {1, 2});
  for (int32_t dtype : {GTH_DTYPE_FLOAT32, GTH_DTYPE_BOOL, GTH_DTYPE_COMPLEX64, GTH_DTYPE_FLOAT8_E5M2, GTH_DTYPE_STRING,
                        255 * 256 + 32, 0, -1, INT32_MIN, INT32_MAX, 33, 128}) {
    gth_tensor_desc bad = indices.desc();
    bad.dtype = dtype;
    expect_refused({g, params.desc(), bad}, out, {GTH_E_DTYPE, GTH_OPERAND_INDICES, -1, -1, dtype, 0});
  }
}

TEST(Hostile, A23_ParamsWithoutDtypeAreRejected) {
  const Array params(f32, {2, 2}), indices = indices64({1}, {0}), out(f32, {1, 2});
  for (int32_t dtype : {255 * 256 + 32, 0, -1, 4, 33, 544 + 1, GTH_DTYPE_STRING + 1, INT32_MIN}) {
    gth_tensor_desc bad = params.desc();
    bad.dtype = dtype;
    expect_refused({g, bad, indices.desc()}, out, {GTH_E_DTYPE, GTH_OPERAND_PARAMS, -1, -1, dtype, 0});
    Error error;
    gth_tensor* made = nullptr;
    expect_facts(gth_tensor_borrow(&bad, &made, &error), error, {GTH_E_DTYPE, GTH_OPERAND_TENSOR, -1, -1, dtype, 0});
  }
}

TEST(Hostile, A23_IndexTypesOutsideTheProfileAreRejected) {
  const Array params(f32, {2, 2}), indices(GTH_DTYPE_UINT8, {1}, std::vector<uint8_t>{0}), out(f32, {1, 2});
  const gth_options tensorflow = with_profile(GTH_PROFILE_TENSORFLOW);
  expect_refused({g, params.desc(), indices.desc(), &tensorflow}, out,
                 {GTH_E_DTYPE, GTH_OPERAND_INDICES, -1, -1, GTH_DTYPE_UINT8, 0});
}

// The message depends on the operand.
TEST(Hostile, A23_MessageStatesTheReason) {
  const Array params(f32, {2, 2}), indices = indices64({1}, {0}), out(f32, {1, 2});
  const auto reason = [&](int32_t of_params, int32_t of_indices, const gth_options* options) {
    gth_tensor_desc p = params.desc(), i = indices.desc(), o = out.desc();
    p.dtype = of_params;
    i.dtype = of_indices;
    Error error;
    EXPECT_EQ(gth_gather(nullptr, &p, &i, &o, options, &error), GTH_E_DTYPE);
    return std::string(error.message);
  };
  EXPECT_EQ(reason(f32, f32, nullptr), "indices: dtype float32 is no integer type");
  EXPECT_EQ(reason(f32, 4, nullptr), "indices: 4 is no dtype");
  EXPECT_EQ(reason(4, GTH_DTYPE_INT64, nullptr), "params: 4 is no dtype");
  const gth_options onnx = with_profile(GTH_PROFILE_ONNX), tensorflow = with_profile(GTH_PROFILE_TENSORFLOW);
  EXPECT_EQ(reason(GTH_DTYPE_FLOAT8_E5M2, GTH_DTYPE_INT64, &onnx), "params: dtype float8_e5m2 is not allowed here");
  EXPECT_EQ(reason(f32, GTH_DTYPE_UINT8, &tensorflow), "indices: dtype uint8 is not allowed here");
}

// With batch_dims = rank and K = 0, tf.gather_nd 2.21.0 reports an error and ONNX Runtime 1.32.0 copies params. The
// specification of ONNX requires batch_dims below both ranks.
TEST(Hostile, A24_BatchDimsEqualToBothRanksAreAcceptedByOrtOnly) {
  const Array params = floats({2, 3}, {0, 1, 2, 3, 4, 5}), indices = indices64({2, 3, 0}, {});
  const gth_options ort = with_profile(GTH_PROFILE_ORT, 2);
  expect_gathered({nd, params.desc(), indices.desc(), &ort}, {2, 3}, params.bytes());
  const Array out(f32, {2, 3});
  for (const int32_t profile : {0, GTH_PROFILE_TENSORFLOW, GTH_PROFILE_ONNX}) {
    const gth_options options = with_profile(profile, 2);
    expect_refused({nd, params.desc(), indices.desc(), &options}, out, batch_fault(2, 2));
  }
}

TEST(Hostile, A24_EmptyBatchGivesAnEmptyOutput) {
  const Array params(f32, {0, 3}), indices = indices64({0, 1}, {});
  const gth_options onnx = with_profile(GTH_PROFILE_ONNX, 1);
  expect_gathered({nd, params.desc(), indices.desc(), &onnx}, {0}, {});
}

}  // namespace
