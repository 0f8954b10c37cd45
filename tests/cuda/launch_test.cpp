#include <gtest/gtest.h>

#include <vector>

#include "core/plan/lower.hpp"
#include "cuda/gather_kernels.hpp"
#include "cuda/launch.hpp"

// The kernels and numbers of blocks that a plan selects.
namespace {

using namespace gather::cuda;
using gather::core::Plan;
using Shape = std::vector<int64_t>;

constexpr int32_t multiprocessors = 132;
constexpr int64_t cache = 50 << 20;
// Each kernel has a different number.
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
  int32_t op = GTH_OP_GATHER;
  int32_t dtype = GTH_DTYPE_FLOAT32;
  Shape params{1000, 64};
  int32_t index = GTH_DTYPE_INT64;
  Shape indices{100};
  gth_options options = GTH_OPTIONS_INIT;
  Shape params_strides, indices_strides, out, out_strides;
  uintptr_t params_at = 1 << 20, indices_at = uintptr_t{1} << 50, out_at = uintptr_t{1} << 52;
  bool owns_output = false;
};

// Returns a request with this many tuples, half of them for each batch of params.
Wish batch_split(int64_t tuples) {
  Wish wish;
  wish.op = GTH_OP_GATHER_ND;
  wish.options.profile = GTH_PROFILE_ORT;
  wish.options.batch_dims = 1;
  wish.params = {2, 5, 3};
  wish.indices = {tuples, 1};
  return wish;
}

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
  const gth_tensor_desc indices = describe(wish.index, wish.indices, wish.indices_strides);
  const gth_tensor_desc out = describe(wish.dtype, wish.out, wish.out_strides);
  gth_error error = GTH_ERROR_INIT;
  Plan plan;
  const auto operands =
      gather::core::by_role<const gth_tensor_desc*>(&params, &indices, wish.out.empty() ? nullptr : &out);
  const gather::core::Request request{operands,
                                      &gather::core::operation_of(wish.op),
                                      gather::core::Open::none,
                                      gather::core::set_roles(operands),
                                      &wish.options,
                                      GTH_DEVICE_CUDA,
                                      0};
  EXPECT_EQ(gather::core::lower(request, &plan, gather::core::Error(&error)), GTH_OK) << error.message;
  const auto at = [](auto address) { return reinterpret_cast<const void*>(address); };
  const gather::core::Pointers pointers =
      gather::core::pointers_of(at(wish.params_at), at(wish.indices_at), at(wish.out_at));
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
  wish.params = {1000, 66};  // 264 bytes: a multiple of 8
  EXPECT_EQ(launch_of(wish).copy, Copy::rows8);
  wish.params = {1000, 65};  // a stream is faster than 4 bytes per thread
  EXPECT_EQ(launch_of(wish).copy, Copy::words);
  wish.params = {1000, 64};
  wish.params_at += 4;
  EXPECT_EQ(launch_of(wish).copy, Copy::words);
  wish.params_at += 1;
  EXPECT_EQ(launch_of(wish).copy, Copy::unaligned);
}

// All threads, or nearly all, have work.
TEST(LaunchPlan, LongRowsAreCut) {
  Wish wish;
  wish.params = {100, 5000};  // 20,000 bytes: 1,250 vectors
  const Launch launch = launch_of(wish);
  EXPECT_EQ(launch.direct.chunks, 20);
  EXPECT_EQ(launch.direct.lanes, 63u);
  EXPECT_EQ(divide(uint32_t{39}, launch.direct.chunk), 1u);
  EXPECT_EQ(divide(uint32_t{127}, launch.direct.lane), 2u);
  for (const int64_t row : {272, 400, 528, 1008, 1200, 4112, 65552}) {
    wish.params = {100, row / 4};
    const Launch each = launch_of(wish);
    EXPECT_EQ(each.copy, Copy::rows16);
    EXPECT_GE(row / 16, each.direct.lanes * each.direct.chunks * 98 / 100) << row;
  }
}

TEST(LaunchPlan, NeighboursFindRowsTogether) {
  Wish wish;
  wish.op = GTH_OP_GATHER_ND;
  wish.params = {10, 10, 68};  // 17 vectors
  wish.indices = {100, 2};
  EXPECT_EQ(launch_of(wish).small.lanes, 20u);
  wish.params = {10, 10, 12};
  EXPECT_EQ(launch_of(wish).small.lanes, 3u);
}

// Neighbouring threads read neighbouring indices, and each index once. A thread makes a vector of elements, unless there
// are enough threads to copy one element each.
TEST(LaunchPlan, ElementsAreRowsOfOneThread) {
  const struct {
    int32_t dtype;
    Copy few, many;
  } cases[] = {{GTH_DTYPE_INT8, Copy::rows1, Copy::elements1},
               {GTH_DTYPE_FLOAT16, Copy::rows2, Copy::elements2},
               {GTH_DTYPE_FLOAT32, Copy::rows4, Copy::elements4},
               {GTH_DTYPE_INT64, Copy::rows8, Copy::rows8},
               {GTH_DTYPE_COMPLEX128, Copy::rows16, Copy::rows16}};
  for (const auto& each : cases) {
    Wish wish;
    wish.dtype = each.dtype;
    wish.params = {1000};
    const int64_t most = int64_t{multiprocessors} * (first_copying + static_cast<int>(each.few)) * block_threads;
    for (const int64_t picks : {int64_t{100}, most, most + 1}) {
      wish.indices = {picks};
      const Launch launch = launch_of(wish);
      EXPECT_EQ(launch.copy, picks > most ? each.many : each.few) << each.dtype;
      EXPECT_EQ(launch.direct.is_few, picks <= most) << each.dtype;
      EXPECT_EQ(launch.form, Form::direct) << each.dtype;
      EXPECT_EQ(launch.direct.lanes, 1u) << each.dtype;
    }
  }
}

// The elements of a vector are in at most two lines of the output.
TEST(LaunchPlan, ShortLinesOfElementsAreRows) {
  Wish wish;
  wish.dtype = GTH_DTYPE_FLOAT16;
  wish.params = {1000};
  wish.indices = {7};
  EXPECT_EQ(launch_of(wish).copy, Copy::rows2);
  wish.indices = {8};
  wish.params = {5, 1000};
  wish.options.has_axis = 1;
  wish.options.axis = 1;
  EXPECT_EQ(launch_of(wish).copy, Copy::elements2);
}

// Rows smaller than a vector of a stream are split into the largest possible vectors.
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
  EXPECT_EQ(launch_of(wish).copy, Copy::unaligned);
}

// An output that fits the cache is kept there for the next kernel.
TEST(LaunchPlan, LinesOfLargeOutputsAreEvictedFirst) {
  Wish wish;
  wish.indices = {cache / 2 / 256};
  EXPECT_FALSE(launch_of(wish).direct.evicts_first);
  wish.indices = {cache / 2 / 256 + 1};
  EXPECT_TRUE(launch_of(wish).direct.evicts_first);
}

TEST(LaunchPlan, UnalignedIndicesAreReadByteByByte) {
  Wish wish;
  wish.indices_at += 1;
  const Launch launch = launch_of(wish);
  EXPECT_EQ(launch.form, Form::small);
  EXPECT_EQ(launch.reading, Reading::any);
  EXPECT_FALSE(launch.small.index_aligned);
}

// Kernels know two or three loops, or one loop over tuples, if the indices are aligned words and the rows are usual ones.
TEST(LaunchPlan, UsualSmallJobsHaveTheirOwnKernels) {
  const auto reading_of = [](int32_t op, const Shape& params, const Shape& indices, int64_t batch_dims, int64_t axis,
                             int32_t index = GTH_DTYPE_INT64, uintptr_t indices_at = uintptr_t{1} << 50) {
    Wish wish;
    wish.op = op;
    wish.params = params;
    wish.indices = indices;
    wish.index = index;
    wish.indices_at = indices_at;
    wish.options.batch_dims = batch_dims;
    wish.options.has_axis = op == GTH_OP_GATHER;
    wish.options.axis = axis;
    return launch_of(wish).reading;
  };
  EXPECT_EQ(reading_of(GTH_OP_GATHER, {3, 90, 4}, {70}, 0, 1), Reading::two_loops);
  EXPECT_EQ(reading_of(GTH_OP_GATHER, {3, 90, 4}, {3, 70}, 1, 1, GTH_DTYPE_UINT32), Reading::two_loops);
  EXPECT_EQ(reading_of(GTH_OP_GATHER, {3, 2, 90, 4}, {3, 70}, 1, 2), Reading::three_loops);
  EXPECT_EQ(reading_of(GTH_OP_GATHER_ND, {5, 6, 4}, {70, 2}, 0, 0), Reading::pairs);
  EXPECT_EQ(reading_of(GTH_OP_GATHER_ND, {5, 6, 7, 4}, {70, 3}, 0, 0), Reading::triples);
  EXPECT_EQ(reading_of(GTH_OP_GATHER_ND, {5, 6, 7, 8, 4}, {70, 4}, 0, 0), Reading::tuples);
  EXPECT_EQ(reading_of(GTH_OP_GATHER_ND, {3, 6, 7, 4}, {3, 70, 2}, 1, 0), Reading::any);
  EXPECT_EQ(reading_of(GTH_OP_GATHER, {3, 90, 5}, {70}, 0, 1), Reading::any);  // rows of 20 bytes
  EXPECT_EQ(reading_of(GTH_OP_GATHER, {3, 90, 4}, {70}, 0, 1, GTH_DTYPE_INT16), Reading::any);
  EXPECT_EQ(reading_of(GTH_OP_GATHER, {3, 90, 4}, {70}, 0, 1, GTH_DTYPE_INT64, (uintptr_t{1} << 50) + 4), Reading::any);
}

TEST(LaunchPlan, CallsOf4096IndicesAreValidatedInside) {
  Wish wish;
  wish.indices = {validated_inside};
  EXPECT_EQ(launch_of(wish).validating_blocks, 0u);
  wish.indices = {validated_inside + 1};
  const Launch launch = launch_of(wish);
  EXPECT_EQ(launch.validating_blocks, 5u);
  EXPECT_EQ(launch.direct.validation, Validation::in_front);
  wish.owns_output = true;
  EXPECT_EQ(launch_of(wish).direct.validation, Validation::behind);
  EXPECT_EQ(launch_of(wish).validating_blocks, 5u);
  wish.owns_output = false;
  wish.options.bounds = GTH_BOUNDS_ERROR_PARTIAL;
  EXPECT_EQ(launch_of(wish).direct.validation, Validation::behind);
  EXPECT_FALSE(launch_of(wish).direct.zeroes);
  wish.indices = {validated_inside};
  EXPECT_EQ(launch_of(wish).direct.validation, Validation::inside);
  wish.indices = {validated_inside + 1};
  wish.options.bounds = GTH_BOUNDS_FILL;
  const Launch filling = launch_of(wish);
  EXPECT_EQ(filling.validating_blocks, 0u);
  EXPECT_EQ(filling.direct.validation, Validation::none);
  Wish nd;
  nd.op = GTH_OP_GATHER_ND;
  nd.indices = {validated_inside / 2 + 1, 2};
  EXPECT_GT(launch_of(nd).validating_blocks, 0u);
}

// Small calls use one load per thread, and large ones all of them. Calls with more warps than one block spread them over
// the device. The number of blocks never exceeds the resident blocks of the kernel.
TEST(LaunchPlan, Blocks) {
  Wish wish;
  wish.indices = {1};
  EXPECT_EQ(launch_of(wish).copying_blocks, 1u);
  wish.indices = {16};  // 16 threads copy a row, so this is one block
  EXPECT_EQ(launch_of(wish).copying_blocks, 1u);
  wish.indices = {17};
  EXPECT_EQ(launch_of(wish).copying_blocks, 9u);
  wish.indices = {2000};
  EXPECT_EQ(launch_of(wish).copying_blocks, static_cast<uint32_t>(multiprocessors));
  const int64_t most = int64_t{16} * multiprocessors * first_copying;
  wish.indices = {most};
  EXPECT_TRUE(launch_of(wish).direct.is_few);
  EXPECT_EQ(launch_of(wish).copying_blocks, static_cast<uint32_t>(multiprocessors * first_copying));
  wish.indices = {most + 1};
  EXPECT_FALSE(launch_of(wish).direct.is_few);
  EXPECT_EQ(launch_of(wish).copying_blocks, static_cast<uint32_t>(multiprocessors));
  wish.indices = {1'000'000};
  EXPECT_EQ(launch_of(wish).copying_blocks, static_cast<uint32_t>(multiprocessors * first_copying));
  EXPECT_EQ(launch_of(wish).validating_blocks, static_cast<uint32_t>(multiprocessors * validating));
  wish.indices = {100'000};
  EXPECT_EQ(launch_of(wish).validating_blocks, static_cast<uint32_t>(100'000 / (4 * block_threads) + 1));
  wish.indices = {1'000'000};
  wish.params = {1000, 65};
  const int stream = static_cast<int>(Copy::words);
  EXPECT_EQ(launch_of(wish).copying_blocks, static_cast<uint32_t>(multiprocessors * (first_copying + stream)));
}

// Returns the offset of step `number` of a job's loops from the first step, computed in 64 bits.
template <class Job>
JobLoop walk(const Job& job, bool (*goes_through)(const Job&, int32_t), int64_t number) {
  JobLoop apart{};
  for (int32_t i = job.loops; i-- > 0;) {
    if (!goes_through(job, i)) continue;
    const int64_t at = number % job.loop[i].extent;
    number /= job.loop[i].extent;
    apart.params += at * job.loop[i].params;
    apart.index += at * job.loop[i].index;
    apart.out += at * job.loop[i].out;
  }
  return apart;
}

// Expects that the pieces cover the call once and in order, within the limits of kernels. Returns their number.
template <class Job>
int expect_copied_in_pieces(const Launch& launch, const Job& job) {
  int pieces = 0;
  int64_t unit = 0, byte = 0;
  const int code = each_copied(job, launch.copy, launch.limits, [&](const Job& piece) {
    ++pieces;
    const bool is_dense = launch.copy == Copy::unaligned || launch.copy == Copy::words;
    EXPECT_LE(piece.row, is_dense ? largest_count / 16 : INT64_MAX);
    EXPECT_LE(piece.units, largest_count / (is_dense ? ceil_divide(piece.row, 16) : piece.chunks));
    EXPECT_EQ(piece.first_unit, unit);
    EXPECT_EQ(byte % 16, 0);
    EXPECT_GE(piece.row, std::min<int64_t>(job.row, 16));
    for (const int64_t number : {int64_t{0}, int64_t{1}, piece.units / 3, piece.units - 1}) {
      if (number >= piece.units) continue;
      const Placed found = place(piece, static_cast<uint32_t>(number));
      const JobLoop expected = walk(job, goes_through_units<Job>, unit + number);
      EXPECT_EQ(found.to - job.out, expected.out + byte) << unit << " + " << number;
      EXPECT_EQ(found.tuple - job.indices, expected.index) << unit << " + " << number;
      if (job.batch_split_dims == 0) {
        EXPECT_EQ(found.from - job.params, expected.params + byte) << unit << " + " << number;
      } else {
        const int64_t batch = (unit + number) / job.batch_split_units;
        EXPECT_EQ(found.from - job.params, expected.params + batch * job.component[job.components].stride);
      }
    }
    byte += piece.row;
    if (byte == job.row) {
      byte = 0;
      unit += piece.units;
    }
    return 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(unit, job.units);
  EXPECT_EQ(byte, 0);
  return pieces;
}

template <class Job>
int expect_validated_in_pieces(const Launch& launch, const Job& job) {
  int pieces = 0;
  int64_t tuple = 0;
  const int code = each_validated(job, launch.limits, [&](const Job& piece) {
    ++pieces;
    EXPECT_LE(piece.tuples, largest_count);
    EXPECT_EQ(piece.first_tuple, tuple);
    for (const int64_t number : {int64_t{0}, piece.tuples / 3, piece.tuples - 1}) {
      const JobLoop expected = walk(job, goes_through_tuples<Job>, tuple + number);
      EXPECT_EQ(locate_tuple(piece, static_cast<uint32_t>(number)) - job.indices, expected.index);
      EXPECT_EQ(position_of(piece, static_cast<uint32_t>(number)), job.units > 0 ? tuple + number : expected.out);
    }
    tuple += piece.tuples;
    return 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(tuple, job.tuples);
  return pieces;
}

TEST(Pieces, OfManyElements) {
  Wish wish;
  wish.dtype = GTH_DTYPE_INT8;
  wish.params = {1000};
  wish.indices = {largest_count};
  Launch launch = launch_of(wish);
  EXPECT_EQ(launch.form, Form::direct);
  EXPECT_EQ(expect_copied_in_pieces(launch, launch.direct), 1);
  EXPECT_EQ(expect_validated_in_pieces(launch, launch.direct), 1);
  wish.indices = {largest_count + 1};
  launch = launch_of(wish);
  EXPECT_EQ(expect_copied_in_pieces(launch, launch.direct), 2);
  EXPECT_EQ(expect_validated_in_pieces(launch, launch.direct), 2);
  wish.indices = {(int64_t{1} << 40) + 5};
  launch = launch_of(wish);
  EXPECT_EQ(launch.copy, Copy::elements1);
  EXPECT_EQ(launch.form, Form::direct);
  EXPECT_EQ(expect_copied_in_pieces(launch, launch.direct), 513);
  EXPECT_EQ(expect_validated_in_pieces(launch, launch.direct), 513);
}

// A stream counts vectors of the output, not bytes.
TEST(Pieces, OfStreams) {
  Wish wish;
  wish.params = {1000, 25};
  wish.indices = {largest_count / 7};
  Launch launch = launch_of(wish);
  EXPECT_EQ(launch.copy, Copy::words);
  EXPECT_EQ(expect_copied_in_pieces(launch, launch.direct), 1);
  wish.indices = {largest_count / 7 + 1};
  launch = launch_of(wish);
  EXPECT_EQ(launch.copy, Copy::words);
  EXPECT_EQ(expect_copied_in_pieces(launch, launch.direct), 2);
  EXPECT_EQ(expect_validated_in_pieces(launch, launch.direct), 1);
  wish.options.bounds = GTH_BOUNDS_FILL;
  wish.dtype = GTH_DTYPE_INT8;
  for (const int64_t row : {300'000'001, 134'217'713, 268'435'425}) {  // byte counts that exceed 32 bits
    wish.params = {5, row};
    wish.indices = {7};
    launch = launch_of(wish);
    EXPECT_EQ(launch.copy, Copy::unaligned);
    EXPECT_GT(expect_copied_in_pieces(launch, launch.direct), 6) << row;
  }
}

TEST(Pieces, OfLongAlignedRows) {
  Wish wish;
  wish.params = {3, int64_t{1} << 40};
  wish.indices = {7};
  const Launch launch = launch_of(wish);
  EXPECT_EQ(launch.copy, Copy::rows16);
  EXPECT_EQ(launch.direct.validation, Validation::in_front);
  EXPECT_EQ(expect_copied_in_pieces(launch, launch.direct), 7 * 3);
}

// Validation and copying are split separately.
TEST(Pieces, OfSeveralLoops) {
  Wish nd;
  nd.op = GTH_OP_GATHER_ND;
  nd.params = {10, 10, 3};
  nd.indices = {3, int64_t{1} << 31, 2};
  nd.params_strides = {600, 60, 20};
  Launch launch = launch_of(nd);
  EXPECT_EQ(launch.form, Form::small);
  EXPECT_GT(expect_copied_in_pieces(launch, launch.small), 9);
  EXPECT_EQ(expect_validated_in_pieces(launch, launch.small), 4);

  Wish batches;
  batches.options.batch_dims = 1;
  batches.options.has_axis = 1;
  batches.options.axis = 1;
  batches.params = {70'000, 10};
  batches.indices = {70'000, 70'000};
  launch = launch_of(batches);
  EXPECT_EQ(launch.form, Form::small);
  EXPECT_EQ(expect_copied_in_pieces(launch, launch.small), 3);
  EXPECT_EQ(expect_validated_in_pieces(launch, launch.small), 3);

  Wish repeated;  // two tuples for each of 2^32 rows
  repeated.params = {int64_t{1} << 32, 3};
  repeated.options.has_axis = 1;
  repeated.options.axis = 1;
  repeated.indices = {2};
  launch = launch_of(repeated);
  EXPECT_EQ(launch.small.validation, Validation::in_front);
  EXPECT_EQ(expect_copied_in_pieces(launch, launch.small), 5);
  EXPECT_EQ(expect_validated_in_pieces(launch, launch.small), 1);
}

TEST(Pieces, OfTuplesSplitByBatch) {
  const Launch launch = launch_of(batch_split(int64_t{1} << 32));
  EXPECT_EQ(launch.form, Form::any);
  EXPECT_GT(expect_copied_in_pieces(launch, launch.any), 2);
  EXPECT_EQ(expect_validated_in_pieces(launch, launch.any), 3);
}

// The reported positions are the same although shared indices are validated once.
TEST(Pieces, SharedIndicesOfEmptyOutputsAreValidatedOnce) {
  Wish wish;
  wish.params = {5, 0};
  wish.options.profile = GTH_PROFILE_ONNX;
  wish.indices = {int64_t{1} << 33, 4, 3};
  wish.indices_strides = {8, 0, 24};
  const Launch launch = launch_of(wish);
  EXPECT_EQ(launch.copying_blocks, 0u);
  EXPECT_EQ(launch.small.tuples, 3 * (int64_t{1} << 33));
  EXPECT_EQ(expect_validated_in_pieces(launch, launch.small), 13);
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
  wish.op = GTH_OP_GATHER_ND;
  wish.params = Shape(64, 1);
  wish.indices = {7, 64};
  Launch launch = launch_of(wish);
  EXPECT_EQ(launch.form, Form::any);
  EXPECT_EQ(launch.any.components, 64);
  EXPECT_EQ(launch.copy, Copy::rows4);
  launch = launch_of(batch_split(4));
  EXPECT_EQ(launch.form, Form::any);
  EXPECT_EQ(launch.any.batch_split_dims, 1);
  EXPECT_EQ(launch.any.batch_split_units, 2);
}

TEST(LaunchPlan, DimsOfExtentOneDoNotAffectTheAlignment) {
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

TEST(LaunchPlan, EmptyOutputsAreValidatedOnly) {
  Wish wish;
  wish.params = {5, 0};
  wish.options.profile = GTH_PROFILE_ONNX;
  const Launch launch = launch_of(wish);
  EXPECT_EQ(launch.copying_blocks, 0u);
  EXPECT_EQ(launch.validating_blocks, 1u);
}

}  // namespace
