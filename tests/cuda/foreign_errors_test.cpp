#include <cuda_runtime_api.h>

#include "device_test.hpp"

// CUDA errors of the program itself. These tests need a GPU, because the emulated runtime stores no last error for
// them.
namespace {

using device::Context;
using device::Error;
using device::Memory;
using device::Shape;

class ForeignErrors : public device::DeviceTest {};

// The error stays for the program to read, and no call of the library reports it.
TEST_F(ForeignErrors, H7_ALaunchOfTheCallersThatFailed) {
  const Context context;
  const Memory params(std::vector<float>{0, 1, 2, 3}), indices(std::vector<int64_t>{3, 1}), out(2 * sizeof(float));
  const Shape p_shape{4}, i_shape{2};
  const gth_tensor_desc p = device::describe_on_device(GTH_DTYPE_FLOAT32, p_shape, params.data());
  const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, i_shape, indices.data());
  const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_FLOAT32, i_shape, out.data());
  static const int no_kernel = 0;
  const cudaError_t failed = cudaLaunchKernel(&no_kernel, dim3(1), dim3(1), nullptr, 0, nullptr);
  ASSERT_NE(failed, cudaSuccess);
  Error error;
  EXPECT_EQ(gth_gather(context.get(), &p, &i, &o, nullptr, &error), GTH_OK) << error.message;
  context.expect_no_error();
  EXPECT_EQ(out.get(), Memory(std::vector<float>{3, 1}).get());
  const Context later;
  later.sync();
  EXPECT_EQ(cudaGetLastError(), failed);
}

}  // namespace
