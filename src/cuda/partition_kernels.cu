#include "cuda/partition_kernels.hpp"

#include "cuda/device_block.hpp"
#include "cuda/partition_bodies.hpp"

namespace gather::cuda {
namespace {

__global__ void __launch_bounds__(block_threads) border_kernel(const __grid_constant__ BorderJob job) {
  DeviceBlock block;
  border_body(block, job);
}

template <PartitionStep step>
__global__ void __launch_bounds__(block_threads) partition_kernel(const __grid_constant__ PartitionJob job) {
  DeviceBlock block;
  partition_body<step>(block, job);
}

}  // namespace

int launch_borders(const BorderJob& job, CUstream_st* stream) {
  return launch(border_kernel, 1, block_threads, stream, job);
}

int launch_partition(PartitionStep step, const PartitionJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_partition(step, [&](auto kind) {
    return launch(partition_kernel<decltype(kind)::value>, blocks, block_threads, stream, job);
  });
}

int load_partition_kernels() {
  int code = load_kernel(border_kernel);
  for (int step = 0; !code && step < partition_steps; ++step) {
    code = visit_partition(static_cast<PartitionStep>(step),
                           [](auto kind) { return load_kernel(partition_kernel<decltype(kind)::value>); });
  }
  return code;
}

}  // namespace gather::cuda
