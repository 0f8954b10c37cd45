#include "host_launch.hpp"

// host_launch.hpp defines what these headers use.
#include "cuda/bag_bodies.hpp"
#include "cuda/bag_kernels.hpp"

// The kernels of bags, run block by block.
namespace gather::cuda {

using emulation::Block;
using emulation::launch;

int launch_sum_lengths(const BagsJob& job, CUstream_st* stream) {
  constexpr uint32_t blocks = sum_runs / block_threads;
  const int code = launch(blocks, block_threads, stream, [job](Block& block) { sum_runs_body(block, job); });
  return code ? code : launch(blocks, block_threads, stream, [job](Block& block) { sum_lengths_body(block, job); });
}

int launch_check_bags(const BagsJob& job, uint32_t blocks, CUstream_st* stream) {
  return launch(blocks, block_threads, stream, [job](Block& block) { check_bags_body(block, job); });
}

int launch_find_empty(const BagsJob& job, uint32_t blocks, CUstream_st* stream) {
  return launch(blocks, block_threads, stream, [job](Block& block) { find_empty_body(block, job); });
}

int launch_pool(Numbers numbers, bool is_wide, const PoolJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_pooled(numbers, is_wide, [&](auto type, auto bytes) {
    return launch(blocks, block_threads, stream,
                  [job](Block& block) { pool_body<decltype(type), decltype(bytes)::value>(block, job); });
  });
}

int load_bag_kernels() { return emulation::enter_call(); }

}  // namespace gather::cuda
