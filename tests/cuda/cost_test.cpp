#include "device_test.hpp"
#include "ptx/count.hpp"

// How many instructions the kernels take: of PTX, which is not what runs in the end, but close to it, and needs no device.
// By its data sheet an H100 copies 16 bytes a thread in the time in which it can issue 280 instructions, an H200 in that of
// 200. What takes more cannot go at the pace of memory; what takes a quarter of it is in nobody's way.
namespace {

using device::Context;
using device::Error;
using device::Memory;
using device::Shape;

class Cost : public device::DeviceTest {};

struct Gather {
  int64_t depth;  // indices a tuple
  int64_t row;    // bytes
  int64_t shift;  // of params, from a multiple of 256 bytes
};

// Instructions of a warp for every 16 bytes of the output that each of its threads has to make.
double cost_of(const Gather& gather) {
  const int64_t picks = std::max<int64_t>((int64_t{1} << 21) / gather.row, 1), extent = gather.depth == 1 ? 243 : 3;
  Shape params_shape(static_cast<size_t>(gather.depth), extent);
  int64_t rows = 1;
  for (const int64_t each : params_shape) rows *= each;
  params_shape.push_back(gather.row);
  const Shape indices_shape{picks, gather.depth}, out_shape{picks, gather.row};
  const Memory params(rows * gather.row + gather.shift), indices(picks * gather.depth * 8), out(picks * gather.row);
  std::vector<int64_t> tuples;
  for (int64_t i = 0; i < picks * gather.depth; ++i) tuples.push_back((i * 7919 + i / 3) % extent);
  device::copy(indices.data(), tuples.data(), static_cast<int64_t>(tuples.size()) * 8);
  char* at = static_cast<char*>(params.data()) + gather.shift;
  const gth_tensor_desc p = device::describe_on_device(GTH_DTYPE_INT8, params_shape, at);
  const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, indices_shape, indices.data());
  const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_INT8, out_shape, out.data());
  const gth_options clamp = device::with_bounds(GTH_BOUNDS_CLAMP);
  const Context context;
  Error error;
  gth_ptx_count();
  EXPECT_EQ(gth_gather_nd_desc(context.get(), &p, &i, &clamp, &o, &error), GTH_OK) << error.message;
  const double cost = static_cast<double>(gth_ptx_counted()) / (static_cast<double>(picks * gather.row) / (16 * 32));
  std::printf("%lld indices, rows of %lld bytes%s: %.0f\n", static_cast<long long>(gather.depth),
              static_cast<long long>(gather.row), gather.shift ? ", not aligned" : "", cost);
  return cost;
}

TEST_F(Cost, AlignedRows) {
  for (const int64_t row : {64, 128, 256, 512, 1024, 4096, 65536}) EXPECT_LT(cost_of({1, row, 0}), 75) << row;
}

TEST_F(Cost, DepthCostsLittle) {
  for (const int64_t row : {64, 256, 1024}) {
    for (const int64_t depth : {2, 3, 4, 5})
      EXPECT_LT(cost_of({depth, row, 0}), 70 + 12 * depth) << row << " " << depth;
  }
}

TEST_F(Cost, RowsOfAnySize) {
  for (const int64_t row : {100, 1000, 1001, 4099}) EXPECT_LT(cost_of({1, row, 0}), 200) << row;
  for (const int64_t row : {64, 256, 1024}) EXPECT_LT(cost_of({1, row, 1}), 200) << row;
}

// A random element of 4 bytes costs a sector of 32 to read: there is five times as much time.
TEST_F(Cost, Elements) {
  EXPECT_LT(cost_of({1, 4, 0}), 300);
  EXPECT_LT(cost_of({1, 8, 0}), 200);
}

}  // namespace
