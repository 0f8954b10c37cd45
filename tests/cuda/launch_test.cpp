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
  Launch launch;
  plan_launch(plan, pointers, GTH_OPEN, {multiprocessors, nullptr, nullptr, 1, wish.owns_output}, &launch);
  return launch;
}

TEST(LaunchPlan, RowsOfVectors) {
  Wish wish;
  Launch launch = launch_of(wish);
  EXPECT_EQ(launch.form, Form::direct);
  EXPECT_EQ(launch.copy, Copy::rows16);
  EXPECT_EQ(launch.reading, Reading::index8);
  EXPECT_EQ(launch.direct.lanes_log2, 4u);  // 256 bytes are 16 vectors
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

TEST(LaunchPlan, LongRowsAreCut) {
  Wish wish;
  wish.params = {100, 5000};  // 20,000 bytes: 1,250 vectors
  const Launch launch = launch_of(wish);
  EXPECT_EQ(launch.direct.lanes_log2, 5u);
  EXPECT_EQ(launch.direct.chunks, 40);
  EXPECT_EQ(divide(uint32_t{79}, launch.direct.chunk, 40), 1u);
}

TEST(LaunchPlan, ElementsAreMadeIntoVectors) {
  const struct {
    int32_t dtype;
    Copy copy;
  } cases[] = {{GTH_DTYPE_INT8, Copy::elements1},
               {GTH_DTYPE_FLOAT16, Copy::elements2},
               {GTH_DTYPE_FLOAT32, Copy::elements4},
               {GTH_DTYPE_INT64, Copy::elements8},
               {GTH_DTYPE_COMPLEX128, Copy::rows16}};
  for (const auto& each : cases) {
    Wish wish;
    wish.dtype = each.dtype;
    wish.params = {1000};
    EXPECT_EQ(launch_of(wish).copy, each.copy) << each.dtype;
  }
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

// Blocks cover small calls thinly and large ones fully, and never exceed what is resident.
TEST(LaunchPlan, Blocks) {
  Wish wish;
  wish.indices = {1};
  EXPECT_EQ(launch_of(wish).copying_blocks, 1u);
  wish.indices = {2000};  // 16 groups a block
  EXPECT_EQ(launch_of(wish).copying_blocks, 125u);
  wish.indices = {1'000'000};
  EXPECT_EQ(launch_of(wish).copying_blocks, static_cast<uint32_t>(multiprocessors * resident_blocks));
  EXPECT_EQ(launch_of(wish).validating_blocks, static_cast<uint32_t>(1'000'000 / (4 * block_threads) + 1));
  wish.indices = {10'000'000};
  EXPECT_EQ(launch_of(wish).validating_blocks, static_cast<uint32_t>(multiprocessors * resident_blocks));
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
  EXPECT_EQ(launch_of(wish).copy, Copy::stream);
  wish.indices = {largest_narrow - 16};
  EXPECT_EQ(launch_of(wish).copy, Copy::elements1);
  // ... except for rows of words that are too many bytes for a narrow stream, but not too many rows.
  wish.dtype = GTH_DTYPE_FLOAT32;
  wish.params = {1000, 25};
  wish.indices = {largest_narrow / 100 + 1};
  launch = launch_of(wish);
  EXPECT_EQ(launch.copy, Copy::rows4);
  EXPECT_EQ(launch.form, Form::direct);
  // Bytes, not rows, are what a stream counts.
  wish.dtype = GTH_DTYPE_INT8;
  wish.indices = {largest_narrow - 16};
  wish.params = {1000, 3};
  launch = launch_of(wish);
  EXPECT_EQ(launch.copy, Copy::stream);
  EXPECT_EQ(launch.reading, Reading::any64);
}

TEST(LaunchPlan, OutputsWithGapsAreCopiedRowByRow) {
  Wish wish;
  wish.dtype = GTH_DTYPE_INT8;
  wish.params = {1000, 3};
  wish.out = {100, 3};
  wish.out_strides = {5, 1};
  Launch launch = launch_of(wish);
  EXPECT_EQ(launch.copy, Copy::rows1);
  EXPECT_EQ(launch.form, Form::small);
  EXPECT_EQ(launch.reading, Reading::any64);
  wish.dtype = GTH_DTYPE_FLOAT32;
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
