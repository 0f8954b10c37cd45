
#include "hostile.hpp"

// Hostile index values.
namespace {

using namespace hostile;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32;

Facts bad_index(int64_t position, int32_t component, int64_t value, int64_t limit, uint32_t flags = 0) {
  return {GTH_E_INDEX, GTH_OPERAND_INDICES, component, position, value, limit, flags};
}

gth_options padded(int64_t padding, int32_t bounds = 0) {
  gth_options options = GTH_OPTIONS_INIT;
  options.bounds = bounds;
  options.has_padding_index = 1;
  options.padding_index = padding;
  return options;
}

TEST(Hostile, B15_InvalidIndexBesidePaddingIsRejected) {
  const Array params(f32, {4}), indices = indices64({3}, {-1, 9, -2}), out(f32, {3});
  const gth_options options = padded(-1);
  expect_refused({g, params.desc(), indices.desc(), &options}, out, bad_index(1, 0, 9, 4));
}

TEST(Hostile, B15_LargeIndexWithTheBitsOfPaddingIsRejected) {
  const Array params(f32, {4}), indices = indices64({2}, {0, -1}), out(f32, {2});
  gth_tensor_desc large = indices.desc();
  large.dtype = GTH_DTYPE_UINT64;
  const gth_options options = padded(-1);
  expect_refused({g, params.desc(), large, &options}, out, bad_index(1, 0, -1, 4, GTH_ERROR_UNSIGNED));
}

TEST(Hostile, B15_PaddingIntoAnEmptyDimReadsNothing) {
  const Array params(f32, {0}), indices = indices64({2}, {-1, -1});
  for (const int32_t bounds : {GTH_BOUNDS_ERROR, GTH_BOUNDS_CLAMP, GTH_BOUNDS_MODULO}) {
    const gth_options options = padded(-1, bounds);
    expect_gathered({g, params.desc(), indices.desc(), &options}, {2}, Bytes(8));
  }
}

TEST(Hostile, B1_NegativeComponentIsRejected) {
  const Array params(f32, {4, 4}), indices = indices64({1, 2}, {0, -1}), out(f32, {1});
  expect_refused({nd, params.desc(), indices.desc()}, out, bad_index(0, 1, -1, 4));
}

TEST(Hostile, B2_SmallestIntegerIsRejected) {
  const Array params(f32, {3}), wide = indices64({1}, {INT64_MIN}), narrow = indices32({1}, {INT32_MIN}), out(f32, {1});
  expect_refused({g, params.desc(), wide.desc()}, out, bad_index(0, 0, INT64_MIN, 3));
  expect_refused({g, params.desc(), narrow.desc()}, out, bad_index(0, 0, INT32_MIN, 3));
  const gth_options wrap = with_bounds(0, GTH_NEGATIVE_WRAP);
  expect_refused({g, params.desc(), wide.desc(), &wrap}, out, bad_index(0, 0, INT64_MIN, 3, GTH_ERROR_WRAP));
}

TEST(Hostile, B3_LowestWrappedIndexSelectsRow0) {
  const Array params(f32, {4}), indices = indices64({1}, {-4});
  const gth_options onnx = with_profile(GTH_PROFILE_ONNX);
  expect_gathered({g, params.desc(), indices.desc(), &onnx}, {1}, rows_of(params, 4, {0}));
}

TEST(Hostile, B4_IndexBelowTheLowestWrappedOneIsRejected) {
  const Array params(f32, {4}), indices = indices64({1}, {-5}), out(f32, {1});
  const gth_options onnx = with_profile(GTH_PROFILE_ONNX);
  expect_refused({g, params.desc(), indices.desc(), &onnx}, out, bad_index(0, 0, -5, 4, GTH_ERROR_WRAP));
}

TEST(Hostile, B5_IndexEqualToTheExtentIsRejected) {
  const Array params(f32, {4}), bad = indices64({1}, {4}), last = indices64({1}, {3}), out(f32, {1});
  expect_refused({g, params.desc(), bad.desc()}, out, bad_index(0, 0, 4, 4));
  expect_gathered({g, params.desc(), last.desc()}, {1}, rows_of(params, 4, {3}));
}

TEST(Hostile, B6_ComponentOutOfBoundsIsRejectedThoughFlatOffsetFits) {
  const Array params(f32, {4, 4}), indices = indices64({1, 2}, {0, 5}), out(f32, {1});
  expect_refused({nd, params.desc(), indices.desc()}, out, bad_index(0, 1, 5, 4));
}

TEST(Hostile, B7_ZeroIsRejectedInAnEmptyDim) {
  const Array params(f32, {0}), indices = indices64({3, 1}, {0, 9, 0}), out(f32, {3});
  expect_refused({nd, params.desc(), indices.desc()}, out, bad_index(0, 0, 0, 0));
}

// The check of a plan rejects what its run rejects. Both succeed without tuples.
TEST(Hostile, B7_TuplesIntoEmptyParamsAreRejected) {
  const Array params(f32, {3, 0}), indices = indices64({2, 1}, {0, 1});
  const gth_options tensorflow = with_profile(GTH_PROFILE_TENSORFLOW);
  Shape shape{GTH_OPEN, 1};
  const gth_tensor_desc p = params.desc(), i = describe(GTH_DTYPE_INT64, shape, nullptr);
  Plan plan;
  ASSERT_EQ(calls::gather_nd.plan(&p, &i, nullptr, &tensorflow, plan.out(), nullptr), GTH_OK);
  Error error;
  expect_facts(calls::check(nullptr, plan.get(), 2, indices.data(), &error), error,
               {GTH_E_INDEX, GTH_OPERAND_PARAMS, 1, -1, 0, 1});
  EXPECT_EQ(calls::check(nullptr, plan.get(), 0, indices.data(), nullptr), GTH_OK);
}

TEST(Hostile, B8_BoundsModesOnAnEmptyDimGiveFillOrError) {
  const Array params(f32, {0}), indices = indices64({1}, {7}), out(f32, {1});
  const gth_options fill = with_bounds(GTH_BOUNDS_FILL);
  expect_gathered({g, params.desc(), indices.desc(), &fill}, {1}, Bytes(4, 0));
  for (int32_t bounds : {GTH_BOUNDS_CLAMP, GTH_BOUNDS_MODULO, GTH_BOUNDS_ERROR}) {
    const gth_options options = with_bounds(bounds);
    expect_refused({g, params.desc(), indices.desc(), &options}, out, bad_index(0, 0, 7, 0));
  }
}

TEST(Hostile, B8_SkipLeavesTheOutputUnchanged) {
  const Array params(f32, {0}), indices = indices64({1}, {7}), out(f32, {1});
  const gth_options skip = with_bounds(GTH_BOUNDS_SKIP);
  const Bytes before = out.bytes();
  const gth_tensor_desc p = params.desc(), i = indices.desc(), o = out.desc();
  EXPECT_EQ(gth_gather(nullptr, &p, &i, &o, &skip, nullptr), GTH_OK);
  EXPECT_TRUE(out.bytes() == before);
  const Tensor tensor(p), index(i);
  Tensor made;
  ASSERT_EQ(calls::gather.make(nullptr, tensor.get(), index.get(), nullptr, &skip, made.out(), nullptr), GTH_OK);
  const char* data = static_cast<const char*>(made.desc().data);
  EXPECT_EQ(Bytes(data, data + 4), Bytes(4, 0));
}

TEST(Hostile, B9_InvalidIndexAfterAMillionIsReported) {
  constexpr int64_t n = 1000000;
  const Array params(f32, {16});
  std::vector<int64_t> values(n, 15);
  values.back() = 16;
  const Array indices = indices64({n}, values), out(f32, {n});
  expect_refused({g, params.desc(), indices.desc()}, out, bad_index(n - 1, 0, 16, 16));
}

TEST(Hostile, B10_SmallestOfTwoInvalidTuplesIsReported) {
  const Array params(f32, {2, 2}), out(f32, {9, 2});
  const Array indices = indices64({9}, {0, 0, 0, 5, 0, 0, 0, 9, 0});
  for (int32_t threads : {1, 2, 3, 8, 16}) {
    gth_options options = GTH_OPTIONS_INIT;
    options.threads = threads;
    expect_refused({g, params.desc(), indices.desc(), &options}, out, bad_index(3, 0, 5, 2));
  }
}

TEST(Hostile, B10_SmallestComponentOfTheSmallestTupleIsReported) {
  const Array params(f32, {2, 2, 2}), out(f32, {3});
  const Array indices = indices64({3, 3}, {0, 0, 9, 1, 7, 8, 6, 0, 0});
  expect_refused({nd, params.desc(), indices.desc()}, out, bad_index(0, 2, 9, 2));
  const Array second = indices64({3, 3}, {0, 0, 1, 1, 7, 8, 6, 0, 0});
  expect_refused({nd, params.desc(), second.desc()}, out, bad_index(1, 1, 7, 2));
}

TEST(Hostile, B11_NoLoopCountGrowsWithAnIndexValue) {
  const Array params(f32, {3}), indices = indices64({2}, {-(int64_t{1} << 62), INT64_MIN});
  const gth_tensor_desc p = params.desc(), i = indices.desc();
  const Array out(f32, {2});
  const gth_tensor_desc o = out.desc();
  for (int32_t bounds = GTH_BOUNDS_ERROR; bounds <= GTH_BOUNDS_SKIP; ++bounds) {
    for (int32_t negative : {GTH_NEGATIVE_REJECT, GTH_NEGATIVE_WRAP}) {
      const gth_options options = with_bounds(bounds, negative);
      // A loop of 2^62 steps would take years, and the test would not end.
      const int32_t status = gth_gather(nullptr, &p, &i, &o, &options, nullptr);
      EXPECT_EQ(status, bounds == GTH_BOUNDS_ERROR ? GTH_E_INDEX : GTH_OK) << bounds;
    }
  }
  const gth_options modulo = with_bounds(GTH_BOUNDS_MODULO);
  const int64_t rest = -(int64_t{1} << 62) % 3 + 3, low = INT64_MIN % 3 + 3;
  expect_gathered({g, p, i, &modulo}, {2}, rows_of(params, 4, {rest, low}));
}

TEST(Hostile, B12_NarrowIndicesAreReadWithTheirWidth) {
  const Array params(f32, {2}), indices = indices32({3}, {0, 1, 0});
  expect_gathered({g, params.desc(), indices.desc()}, {3}, rows_of(params, 4, {0, 1, 0}));
}

TEST(Hostile, B13_WideIndicesAreNotTruncated) {
  const Array params(f32, {4}), out(f32, {1});
  constexpr int64_t value = (int64_t{1} << 32) + 1;
  const Array indices = indices64({1}, {value});
  expect_refused({g, params.desc(), indices.desc()}, out, bad_index(0, 0, value, 4));
}

TEST(Hostile, B13_UnsignedIndicesAreNotNegative) {
  const Array params(f32, {4}), out(f32, {1});
  const Array huge(GTH_DTYPE_UINT64, {1}, std::vector<uint64_t>{UINT64_MAX});
  expect_refused({g, params.desc(), huge.desc()}, out, bad_index(0, 0, -1, 4, GTH_ERROR_UNSIGNED));
  const gth_options wrap = with_bounds(0, GTH_NEGATIVE_WRAP);
  expect_refused({g, params.desc(), huge.desc(), &wrap}, out,
                 bad_index(0, 0, -1, 4, GTH_ERROR_UNSIGNED | GTH_ERROR_WRAP));
  const gth_options clamp = with_bounds(GTH_BOUNDS_CLAMP, GTH_NEGATIVE_WRAP), modulo = with_bounds(GTH_BOUNDS_MODULO);
  expect_gathered({g, params.desc(), huge.desc(), &clamp}, {1}, rows_of(params, 4, {3}));
  expect_gathered({g, params.desc(), huge.desc(), &modulo}, {1}, rows_of(params, 4, {UINT64_MAX % 4}));
  const Array narrow(GTH_DTYPE_UINT8, {1}, std::vector<uint8_t>{255});
  expect_refused({g, params.desc(), narrow.desc()}, out, bad_index(0, 0, 255, 4));
}

// Blocks have 256 tuples and vectors up to 16 lanes. A few tuples are processed one by one. This tests every position
// around those edges.
TEST(Hostile, B14_InvalidIndexAtEveryEdgeOfABlockIsReported) {
  const Array params(f32, {4, 3});
  for (int64_t n : {1, 7, 8, 9, 15, 16, 17, 31, 33, 255, 256, 257, 511, 512, 513, 769}) {
    const Array out(f32, {n, 3});
    const Bytes before = out.bytes();
    for (int64_t at = 0; at < n; ++at) {
      if (at > 17 && at < n - 17 && (at + 2) % 256 > 3) continue;
      std::vector<int32_t> values(static_cast<size_t>(n), 3);
      values[static_cast<size_t>(at)] = 4;
      const Array indices = indices32({n}, values);
      const gth_tensor_desc p = params.desc(), i = indices.desc(), o = out.desc();
      Error error;
      expect_facts(gth_gather(nullptr, &p, &i, &o, nullptr, &error), error, bad_index(at, 0, 4, 4));
    }
    EXPECT_TRUE(out.bytes() == before);
  }
}

}  // namespace
