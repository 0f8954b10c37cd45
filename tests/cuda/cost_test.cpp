#include "device_test.hpp"
#include "ptx/count.hpp"

// Counts the machine instructions that warps issue. Threads that diverge issue their paths one after the other. The
// tests need a disassembler but no device. By their data sheets, an H100 copies 16 bytes per thread in the time of 280
// instructions, an H200 in that of 200. Above that, instructions limit the speed. Below a quarter of it, they do not
// matter.
namespace {

using device::Context;
using device::Error;
using device::Memory;
using device::Shape;

class Cost : public device::DeviceTest {};

struct Gather {
  int64_t depth;   // indices per tuple
  int64_t row;     // bytes
  int64_t shift;   // offset of params from a multiple of 256 bytes
  int64_t rounds;  // approximate rounds per thread
  int32_t index = GTH_DTYPE_INT64;
  int32_t bounds = GTH_BOUNDS_CLAMP;
};

template <class Index>
Memory make_tuples(int64_t picks, int64_t depth, int64_t extent) {
  std::vector<Index> tuples;
  for (int64_t i = 0; i < picks * depth; ++i) tuples.push_back(static_cast<Index>((i * 7919 + i / 3) % extent));
  return Memory(tuples);
}

int64_t count_picks(const Gather& gather) {
  // A round of four blocks, and a little less, because a fifth one would be nearly empty.
  const int64_t bytes = gather.rounds * ((int64_t{1} << 16) - 1024);
  return std::max<int64_t>(bytes / std::max<int64_t>(gather.row, 4), 1);
}

// Runs the gather and counts its instructions.
void run(const Gather& gather) {
  const int64_t picks = count_picks(gather), extent = gather.depth == 1 ? 243 : gather.depth > 8 ? 1 : 3;
  Shape params_shape(static_cast<size_t>(gather.depth), extent);
  int64_t rows = 1;
  for (const int64_t each : params_shape) rows *= each;
  params_shape.push_back(gather.row);
  const Shape indices_shape{picks, gather.depth}, out_shape{picks, gather.row};
  const Memory params(rows * gather.row + gather.shift), out(picks * gather.row);
  const bool is_narrow = gather.index == GTH_DTYPE_INT32;
  const Memory indices =
      is_narrow ? make_tuples<int32_t>(picks, gather.depth, extent) : make_tuples<int64_t>(picks, gather.depth, extent);
  char* at = static_cast<char*>(params.data()) + gather.shift;
  const gth_tensor_desc p = device::describe_on_device(GTH_DTYPE_INT8, params_shape, at);
  const gth_tensor_desc i = device::describe_on_device(gather.index, indices_shape, indices.data());
  const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_INT8, out_shape, out.data());
  const gth_options options = device::with_bounds(gather.bounds);
  const Context context;
  Error error;
  gth_ptx_count();
  EXPECT_EQ(gth_gather_nd(context.get(), &p, &i, &o, &options, &error), GTH_OK) << error.message;
}

// Returns the instructions of a warp for every 16 bytes of output of each thread.
double cost_of(const Gather& gather) {
  run(gather);
  const double bytes = static_cast<double>(count_picks(gather) * gather.row);
  return static_cast<double>(gth_ptx_counted("copy_kernel")) / (bytes / (16 * 32));
}

// Returns the instructions of a warp for every validated tuple of each thread.
double validating_cost_of(Gather gather) {
  gather.bounds = GTH_BOUNDS_ERROR;
  run(gather);
  const double tuples = static_cast<double>(count_picks(gather));
  return static_cast<double>(gth_ptx_counted("validate_kernel")) / (tuples / 32);
}

// The number of rounds. With this many, the last, partly filled round has no visible effect.
constexpr int64_t many = 64;

TEST_F(Cost, AlignedRows) {
  for (const int64_t row : {64, 128, 256, 512, 1024, 4096, 65536}) EXPECT_LT(cost_of({1, row, 0, many}), 75) << row;
  EXPECT_LT(cost_of({1, 256, 0, many, GTH_DTYPE_INT32}), 75);
}

// With row sizes that are not powers of two, no thread is idle.
TEST_F(Cost, AlignedRowsOfAnySize) {
  for (const int64_t row : {272, 400, 528, 1200}) EXPECT_LT(cost_of({1, row, 0, many}), 75) << row;
  EXPECT_LT(cost_of({1, 264, 0, many}), 140);
}

TEST_F(Cost, EachComponentNeedsAtMostTenInstructions) {
  for (const int64_t row : {64, 256, 1024}) {
    for (const int64_t depth : {2, 3, 4, 5})
      EXPECT_LT(cost_of({depth, row, 0, many}), 90 + 10 * depth) << row << " " << depth;
  }
}

// If a vector has parts of two rows in one thread of a warp, the warp pays for both. A row of 100 bytes usually covers
// sectors of 131 bytes in total, so 230 instructions are available.
TEST_F(Cost, UnalignedRows) {
  for (const int64_t row : {100, 1001}) EXPECT_LT(cost_of({1, row, 0, many}), row == 100 ? 170 : 215) << row;
  EXPECT_LT(cost_of({1, 4099, 0, many}), 140);
  for (const int64_t row : {64, 256, 1024}) EXPECT_LT(cost_of({1, row, 1, many}), 150) << row;
  EXPECT_LT(cost_of({1, 1000, 0, many}), 140);
}

// Each thread runs one round, so the cost includes the start of the kernel.
TEST_F(Cost, OneRound) {
  for (const int64_t row : {100, 1001, 4099}) EXPECT_LT(cost_of({1, row, 0, 1}), 250) << row;
  for (const int64_t row : {64, 256, 1024}) EXPECT_LT(cost_of({1, row, 1, 1}), 180) << row;
}

// A random element of 4 bytes reads a sector of 32 bytes and an index of 8, so five times as much time is available.
TEST_F(Cost, Elements) {
  EXPECT_LT(cost_of({1, 8, 0, many}), 135);
  EXPECT_LT(cost_of({1, 4, 0, many}), 190);
  EXPECT_LT(cost_of({1, 4, 0, many, GTH_DTYPE_INT32}), 195);
  EXPECT_LT(cost_of({1, 2, 0, many}), 360);
  EXPECT_LT(cost_of({1, 1, 0, many}), 660);
  EXPECT_LT(cost_of({1, 12, 0, many}), 270);
  for (const int64_t depth : {2, 3, 4, 5}) EXPECT_LT(cost_of({depth, 4, 0, many}), 110 + 100 * depth) << depth;
}

// A gather of elements from lines of 1000, with an index for each element of the output or with indices of the last
// axis.
struct Elements {
  bool is_last_axis;
  int64_t bytes;
  int32_t dtype;
};

double cost_of_lines(const Elements& elements) {
  constexpr int64_t lines = 256, extent = 1000;
  const Shape params_shape{lines, extent}, out_shape{lines, extent};
  const Shape indices_shape = elements.is_last_axis ? Shape{extent} : out_shape;
  const Memory params(lines * extent * elements.bytes), out(lines * extent * elements.bytes);
  const Memory indices = make_tuples<int64_t>(elements.is_last_axis ? extent : lines * extent, 1, extent);
  const gth_tensor_desc p = device::describe_on_device(elements.dtype, params_shape, params.data());
  const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, indices_shape, indices.data());
  const gth_tensor_desc o = device::describe_on_device(elements.dtype, out_shape, out.data());
  gth_options options = device::with_bounds(GTH_BOUNDS_CLAMP);
  options.has_axis = 1;
  options.axis = 1;
  const Context context;
  Error error;
  gth_ptx_count();
  const auto call = elements.is_last_axis ? gth_gather : gth_gather_elements;
  EXPECT_EQ(call(context.get(), &p, &i, &o, &options, &error), GTH_OK) << error.message;
  const double bytes = static_cast<double>(lines * extent * elements.bytes);
  return static_cast<double>(gth_ptx_counted("copy_kernel")) / (bytes / (16 * 32));
}

// Neighbouring elements share the decoding of their place. An element of 4 bytes has an index of 8, and a sector of 32
// bytes is read for it.
TEST_F(Cost, LinesOfElements) {
  for (const bool is_last_axis : {false, true}) {
    EXPECT_LT(cost_of_lines({is_last_axis, 4, GTH_DTYPE_INT32}), 240);
    EXPECT_LT(cost_of_lines({is_last_axis, 2, GTH_DTYPE_INT16}), 450);
    EXPECT_LT(cost_of_lines({is_last_axis, 1, GTH_DTYPE_INT8}), 1150);
  }
}

// Gathers rows of each batch, or of each of two slices of a batch.
double cost_of_batches(int64_t width, bool has_slices) {
  constexpr int64_t batches = 64, picks = 1000, extent = 900;
  const int64_t slices = has_slices ? 2 : 1;
  Shape params_shape{batches, extent, width}, out_shape{batches, picks, width};
  const Shape indices_shape{batches, picks};
  if (has_slices) {
    params_shape.insert(params_shape.begin() + 1, slices);
    out_shape.insert(out_shape.begin() + 1, slices);
  }
  const Memory params(batches * slices * extent * width * 4), out(batches * slices * picks * width * 4);
  const Memory indices = make_tuples<int64_t>(batches * picks, 1, extent);
  const gth_tensor_desc p = device::describe_on_device(GTH_DTYPE_INT32, params_shape, params.data());
  const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, indices_shape, indices.data());
  const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_INT32, out_shape, out.data());
  gth_options options = device::with_bounds(GTH_BOUNDS_CLAMP);
  options.batch_dims = options.has_axis = 1;
  options.axis = has_slices ? 2 : 1;
  const Context context;
  Error error;
  gth_ptx_count();
  EXPECT_EQ(gth_gather(context.get(), &p, &i, &o, &options, &error), GTH_OK) << error.message;
  return static_cast<double>(gth_ptx_counted("copy_kernel")) /
         (static_cast<double>(batches * slices * picks * width * 4) / (16 * 32));
}

// Two and three loops outside the rows are decoded once for all vectors of a round.
TEST_F(Cost, Batches) {
  for (const bool has_slices : {false, true}) {
    for (const int64_t width : {4, 16, 64}) EXPECT_LT(cost_of_batches(width, has_slices), 110) << width;
    EXPECT_LT(cost_of_batches(1, has_slices), 250);
    EXPECT_LT(cost_of_batches(2, has_slices), 200);
    EXPECT_LT(cost_of_batches(3, has_slices), 400);
  }
}

// Reading 8 bytes for each of 32 threads takes the time of 55 instructions.
TEST_F(Cost, Validating) {
  EXPECT_LT(validating_cost_of({1, 4, 0, 1}), 40);
  EXPECT_LT(validating_cost_of({1, 4, 0, 1, GTH_DTYPE_INT32}), 40);
  EXPECT_LT(validating_cost_of({3, 4, 0, 1}), 215);
}

}  // namespace
