#include <gtest/gtest.h>

#include <vector>

#include "core/lower.hpp"
#include "cuda/kernels.hpp"
#include "cuda/launch.hpp"

// Which kernels a plan runs by, and with how many blocks.
namespace {

using namespace gather::cuda;
using gather::core::Op;
using gather::core::Plan;
using Shape = std::vector<int64_t>;

constexpr int32_t multiprocessors = 132;
constexpr int64_t cache = 50 << 20;
// Of each kernel another number.
constexpr uint8_t validating = 7, first_copying = 2;

Capacity capacity() {
  Capacity result{cache, false, {}, {}};
  for (int family = 0; family < families; ++family) {
    result.validating[family] = validating;
    for (int copy = 0; copy < copies; ++copy) result.copying[family][copy] = static_cast<uint8_t>(first_copying + copy);
  }
  return result;
}

struct Wish {
  Op op = Op::gather;
  int32_t dtype = GTH_DTYPE_FLOAT32;
  Shape params{1000, 64};
  int32_t index = GTH_DTYPE_INT64;
  Shape indices{100};
  gth_options options = GTH_OPTIONS_INIT;
  Shape params_strides, out, out_strides;
  uintptr_t params_at = 1 << 20, indices_at = uintptr_t{1} << 50, out_at = uintptr_t{1} << 52;
  bool owns_output = false;
};

gth_tensor_desc describe(int32_t dtype, const Shape& shape, const Shape& strides) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  desc.dtype = dtype;
  desc.device = GTH_DEVICE_CUDA;
  desc.ndim = static_cast<int32_t>(shape.size());
  desc.shape = shape.data();
  desc.strides = strides.empty() ? nullptr : strides.data();
  return desc;
}

Launch launch_of(const Wish& wish) {
  const gth_tensor_desc params = describe(wish.dtype, wish.params, wish.params_strides);
  const gth_tensor_desc indices = describe(wish.index, wish.indices, {});
  const gth_tensor_desc out = describe(wish.dtype, wish.out, wish.out_strides);
  gth_error error = GTH_ERROR_INIT;
  Plan plan;
  EXPECT_EQ(gather::core::lower({wish.op, gather::core::Open::none, &params, &indices,
                                 wish.out.empty() ? nullptr : &out, &wish.options, GTH_DEVICE_CUDA, 0},
                                &plan, gather::core::Error(&error)),
            GTH_OK)
      << error.message;
  const gather::core::Pointers pointers{reinterpret_cast<const char*>(wish.params_at),
                                        reinterpret_cast<const char*>(wish.indices_at),
                                        reinterpret_cast<char*>(wish.out_at)};
  const Capacity has = capacity();
  Launch launch;
  plan_launch(plan, pointers, GTH_OPEN, {multiprocessors, &has, nullptr, nullptr, 1, wish.owns_output}, &launch);
  return launch;
}

TEST(LaunchPlan, RowsOfVectors) {
  Wish wish;
  Launch launch = launch_of(wish);
  EXPECT_EQ(launch.form, Form::direct);
  EXPECT_EQ(launch.copy, Copy::rows16);
  EXPECT_EQ(launch.reading, Reading::index8);
  EXPECT_EQ(launch.direct.lanes, 16u);  // 256 bytes are 16 vectors
  EXPECT_EQ(launch.direct.chunks, 1);
  EXPECT_EQ(launch.validating_blocks, 0u);
  EXPECT_EQ(launch.direct.validation, Validation::inside);
  wish.index = GTH_DTYPE_UINT32;
  EXPECT_EQ(launch_of(wish).reading, Reading::index4);
  wish.params = {1000, 66};  // 264 bytes: 8 divides them
  EXPECT_EQ(launch_of(wish).copy, Copy::rows8);
  wish.params = {1000, 65};  // a stream is better than 4 bytes a thread
  EXPECT_EQ(launch_of(wish).copy, Copy::stream);
  wish.params = {1000, 64};
  wish.params_at += 4;
  EXPECT_EQ(launch_of(wish).copy, Copy::stream);
  wish.params_at += 1;
  EXPECT_EQ(launch_of(wish).copy, Copy::stream);
}

// No thread has nothing to do, or few.
TEST(LaunchPlan, LongRowsAreCut) {
  Wish wish;
  wish.params = {100, 5000};  // 20,000 bytes: 1,250 vectors
  const Launch launch = launch_of(wish);
  EXPECT_EQ(launch.direct.chunks, 20);
  EXPECT_EQ(launch.direct.lanes, 63u);
  EXPECT_EQ(divide(uint32_t{39}, launch.direct.chunk, 20), 1u);
  EXPECT_EQ(divide(uint32_t{127}, launch.direct.lane, 63), 2u);
  for (const int64_t row : {272, 400, 528, 1008, 1200, 4112, 65552}) {
    wish.params = {100, row / 4};
    const Launch each = launch_of(wish);
    EXPECT_EQ(each.copy, Copy::rows16);
    EXPECT_GE(row / 16, each.direct.lanes * each.direct.chunks * 98 / 100) << row;
  }
}

TEST(LaunchPlan, NeighboursFindRowsTogether) {
  Wish wish;
  wish.op = Op::gather_nd;
  wish.params = {10, 10, 68};  // 17 vectors
  wish.indices = {100, 2};
  EXPECT_EQ(launch_of(wish).small.lanes, 20u);
  wish.params = {10, 10, 12};
  EXPECT_EQ(launch_of(wish).small.lanes, 3u);
}

// Neighbouring threads read neighbouring indices, and each once.
TEST(LaunchPlan, ElementsAreRowsOfOneThread) {
  const struct {
    int32_t dtype;
    Copy copy;
  } cases[] = {{GTH_DTYPE_INT8, Copy::rows1},
               {GTH_DTYPE_FLOAT16, Copy::rows2},
               {GTH_DTYPE_FLOAT32, Copy::rows4},
               {GTH_DTYPE_INT64, Copy::rows8},
               {GTH_DTYPE_COMPLEX128, Copy::rows16}};
  for (const auto& each : cases) {
    Wish wish;
    wish.dtype = each.dtype;
    wish.params = {1000};
    const Launch launch = launch_of(wish);
    EXPECT_EQ(launch.copy, each.copy) << each.dtype;
    EXPECT_EQ(launch.form, Form::direct) << each.dtype;
    EXPECT_EQ(launch.direct.lanes, 1u) << each.dtype;
  }
}

// Rows that are smaller than a vector of a stream: a row is cut into what it can be cut into.
TEST(LaunchPlan, SmallRowsOfAnySize) {
  Wish wish;
  wish.params = {1000, 3};  // 12 bytes
  EXPECT_EQ(launch_of(wish).copy, Copy::rows4);
  EXPECT_EQ(launch_of(wish).direct.lanes, 3u);
  wish.dtype = GTH_DTYPE_INT8;
  EXPECT_EQ(launch_of(wish).copy, Copy::rows1);
  wish.params = {1000, 15};
  EXPECT_EQ(launch_of(wish).copy, Copy::rows1);
  wish.params = {1000, 17};
  EXPECT_EQ(launch_of(wish).copy, Copy::stream);
}

// An output that fits stays in the cache, where the next kernel finds it.
TEST(LaunchPlan, OnlyLargeOutputsAreStreamed) {
  Wish wish;
  wish.indices = {cache / 2 / 256};
  EXPECT_FALSE(launch_of(wish).direct.streams);
  wish.indices = {cache / 2 / 256 + 1};
  EXPECT_TRUE(launch_of(wish).direct.streams);
}

TEST(LaunchPlan, UnalignedIndicesAreReadByteByByte) {
  Wish wish;
  wish.indices_at += 1;
  const Launch launch = launch_of(wish);
  EXPECT_EQ(launch.form, Form::small);
  EXPECT_EQ(launch.reading, Reading::any32);
  EXPECT_FALSE(launch.small.index_aligned);
}

TEST(LaunchPlan, TheBorderOfJudgingInside) {
  Wish wish;
  wish.indices = {judged_inside};
  EXPECT_EQ(launch_of(wish).validating_blocks, 0u);
  wish.indices = {judged_inside + 1};
  const Launch launch = launch_of(wish);
  EXPECT_EQ(launch.validating_blocks, 3u);
  EXPECT_EQ(launch.direct.validation, Validation::in_front);
  EXPECT_TRUE(launch.direct.sets_skip);
  wish.options.bounds = GTH_BOUNDS_FILL;
  const Launch filling = launch_of(wish);
  EXPECT_EQ(filling.validating_blocks, 0u);
  EXPECT_EQ(filling.direct.validation, Validation::none);
  Wish nd;
  nd.op = Op::gather_nd;
  nd.indices = {judged_inside / 2 + 1, 2};
  EXPECT_GT(launch_of(nd).validating_blocks, 0u);
}

// Blocks cover small calls thinly and large ones fully, and never exceed what is resident of their kernel.
TEST(LaunchPlan, Blocks) {
  Wish wish;
  wish.indices = {1};
  EXPECT_EQ(launch_of(wish).copying_blocks, 1u);
  wish.indices = {2000};  // 16 groups a block
  EXPECT_EQ(launch_of(wish).copying_blocks, 125u);
  wish.indices = {1'000'000};
  EXPECT_EQ(launch_of(wish).copying_blocks, static_cast<uint32_t>(multiprocessors * first_copying));
  EXPECT_EQ(launch_of(wish).validating_blocks, static_cast<uint32_t>(multiprocessors * validating));
  wish.indices = {100'000};
  EXPECT_EQ(launch_of(wish).validating_blocks, static_cast<uint32_t>(100'000 / (4 * block_threads) + 1));
  wish.indices = {1'000'000};
  wish.params = {1000, 65};
  const int stream = static_cast<int>(Copy::stream);
  EXPECT_EQ(launch_of(wish).copying_blocks, static_cast<uint32_t>(multiprocessors * (first_copying + stream)));
}

TEST(LaunchPlan, CountsIn64BitsWhereItMust) {
  Wish wish;
  wish.dtype = GTH_DTYPE_FLOAT32;
  wish.params = {1000};
  wish.indices = {largest_narrow};
  Launch launch = launch_of(wish);
  EXPECT_EQ(launch.form, Form::small);
  EXPECT_EQ(launch.reading, Reading::any64);
  EXPECT_EQ(launch.copy, Copy::rows4);
  wish.dtype = GTH_DTYPE_INT8;
  EXPECT_EQ(launch_of(wish).copy, Copy::rows1);
  wish.indices = {largest_narrow - 16};
  launch = launch_of(wish);
  EXPECT_EQ(launch.copy, Copy::rows1);
  EXPECT_EQ(launch.form, Form::direct);
  // Vectors of the output are what a stream counts, not its bytes.
  wish.dtype = GTH_DTYPE_FLOAT32;
  wish.params = {1000, 25};
  const int64_t vectors = largest_narrow - 16;
  wish.indices = {vectors / 7};
  launch = launch_of(wish);
  EXPECT_EQ(launch.copy, Copy::stream);
  EXPECT_EQ(launch.form, Form::direct);
  wish.indices = {vectors / 7 + 1};
  launch = launch_of(wish);
  EXPECT_EQ(launch.copy, Copy::rows4);
  EXPECT_EQ(launch.reading, Reading::any64);
  wish.dtype = GTH_DTYPE_INT8;
  wish.params = {1000, 99};
  EXPECT_EQ(launch_of(wish).copy, Copy::stream);
  EXPECT_EQ(launch_of(wish).reading, Reading::any64);
}

TEST(LaunchPlan, OutputsWithGapsAreCopiedRowByRow) {
  Wish wish;
  wish.dtype = GTH_DTYPE_INT8;
  wish.params = {1000, 3};
  wish.out = {100, 3};
  wish.out_strides = {5, 1};
  Launch launch = launch_of(wish);
  EXPECT_EQ(launch.copy, Copy::rows1);
  EXPECT_EQ(launch.form, Form::direct);
  wish.params = {1000, 30};
  wish.out = {100, 30};
  wish.out_strides = {34, 1};
  EXPECT_EQ(launch_of(wish).copy, Copy::rows2);
  wish.dtype = GTH_DTYPE_FLOAT32;
  wish.params = {1000, 3};
  wish.out = {100, 3};
  wish.out_strides = {20, 4};
  launch = launch_of(wish);
  EXPECT_EQ(launch.copy, Copy::rows4);
  EXPECT_EQ(launch.form, Form::direct);
  EXPECT_EQ(launch.reading, Reading::index8);
}

TEST(LaunchPlan, ManyLoopsAndComponents) {
  Wish wish;
  wish.op = Op::gather_nd;
  wish.params = Shape(64, 1);
  wish.indices = {7, 64};
  Launch launch = launch_of(wish);
  EXPECT_EQ(launch.form, Form::any);
  EXPECT_EQ(launch.any.components, 64);
  EXPECT_EQ(launch.copy, Copy::rows4);

  Wish dealt;
  dealt.op = Op::gather_nd;
  dealt.options.profile = GTH_PROFILE_ORT;
  dealt.options.batch_dims = 1;
  dealt.params = {2, 5, 3};
  dealt.indices = {4, 1};
  launch = launch_of(dealt);
  EXPECT_EQ(launch.form, Form::any);
  EXPECT_EQ(launch.any.dealt_dims, 1);
  EXPECT_EQ(launch.any.dealt_units, 2);
}

TEST(LaunchPlan, DimsOfOneDoNotSpoilTheAlignment) {
  Wish wish;
  wish.params = {1, 64};
  wish.params_strides = {3, 4};
  EXPECT_EQ(launch_of(wish).copy, Copy::rows16);
}

TEST(LaunchPlan, EmptyDimsUnderClampAreReported) {
  Wish wish;
  wish.params = {0, 4};
  wish.options.bounds = GTH_BOUNDS_CLAMP;
  const Launch launch = launch_of(wish);
  EXPECT_TRUE(launch.reports_first);
  EXPECT_EQ(launch.copying_blocks, 0u);
  EXPECT_EQ(launch.validating_blocks, 0u);
}

TEST(LaunchPlan, EmptyOutputsAreJudgedOnly) {
  Wish wish;
  wish.params = {5, 0};
  wish.options.profile = GTH_PROFILE_ONNX;
  const Launch launch = launch_of(wish);
  EXPECT_EQ(launch.copying_blocks, 0u);
  EXPECT_EQ(launch.validating_blocks, 1u);
}

}  // namespace
