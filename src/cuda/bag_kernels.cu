#include "cuda/bag_kernels.hpp"

#include "cuda/bag_bodies.hpp"
#include "cuda/device_block.hpp"

namespace gather::cuda {
namespace {

__global__ void __launch_bounds__(block_threads) sum_runs_kernel(const __grid_constant__ BagsJob job) {
  DeviceBlock block;
  sum_runs_body(block, job);
}

__global__ void __launch_bounds__(block_threads) sum_lengths_kernel(const __grid_constant__ BagsJob job) {
  DeviceBlock block;
  sum_lengths_body(block, job);
}

__global__ void __launch_bounds__(block_threads) check_bags_kernel(const __grid_constant__ BagsJob job) {
  DeviceBlock block;
  check_bags_body(block, job);
}

__global__ void __launch_bounds__(block_threads) find_empty_kernel(const __grid_constant__ BagsJob job) {
  DeviceBlock block;
  find_empty_body(block, job);
}

template <class Type, int bytes>
__global__ void __launch_bounds__(block_threads) pool_kernel(const __grid_constant__ PoolJob job) {
  DeviceBlock block;
  pool_body<Type, bytes>(block, job);
}

int load_pool(Numbers numbers) {
  const auto load_one = [](auto type, auto bytes) {
    return load_kernel(pool_kernel<decltype(type), decltype(bytes)::value>);
  };
  const int code = visit_pooled(numbers, false, load_one);
  return code ? code : visit_pooled(numbers, true, load_one);
}

}  // namespace

int launch_sum_lengths(const BagsJob& job, CUstream_st* stream) {
  constexpr uint32_t blocks = sum_runs / block_threads;
  const int code = launch(sum_runs_kernel, blocks, block_threads, stream, job);
  return code ? code : launch(sum_lengths_kernel, blocks, block_threads, stream, job);
}

int launch_check_bags(const BagsJob& job, uint32_t blocks, CUstream_st* stream) {
  return launch(check_bags_kernel, blocks, block_threads, stream, job);
}

int launch_find_empty(const BagsJob& job, uint32_t blocks, CUstream_st* stream) {
  return launch(find_empty_kernel, blocks, block_threads, stream, job);
}

int launch_pool(Numbers numbers, bool is_wide, const PoolJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_pooled(numbers, is_wide, [&](auto type, auto bytes) {
    return launch(pool_kernel<decltype(type), decltype(bytes)::value>, blocks, block_threads, stream, job);
  });
}

int load_bag_kernels() {
  int code = load_kernel(sum_runs_kernel);
  if (!code) code = load_kernel(sum_lengths_kernel);
  if (!code) code = load_kernel(check_bags_kernel);
  if (!code) code = load_kernel(find_empty_kernel);
  for (int i = 0; !code && i < number_types; ++i) code = load_pool(static_cast<Numbers>(i));
  return code;
}

}  // namespace gather::cuda
