#include "host_launch.hpp"

// host_launch.hpp defines what these headers use.
#include "cuda/bag_bodies.hpp"
#include "cuda/bag_kernels.hpp"
#include "cuda/bag_step_kernels.hpp"
#include "cuda/bag_steps.hpp"
#include "cuda/partition_bodies.hpp"
#include "cuda/partition_kernels.hpp"

// The kernels of bags and partitions, run block by block.
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

int launch_step(BagStep step, Numbers numbers, const BagStepsJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_step(step, numbers, [&](auto kind) {
    using Kind = decltype(kind);
    return launch(blocks, block_threads, stream,
                  [job](Block& block) { step_body<Kind::step, typename Kind::Type, Kind::bytes>(block, job); });
  });
}

int launch_divide_gradient(Numbers numbers, const BagStepsJob& job, uint32_t blocks, CUstream_st* stream) {
  return launch(blocks, block_threads, stream, [=](Block& block) {
    numbers == Numbers::complex64 ? divide_gradient_body<float>(block, job) : divide_gradient_body<double>(block, job);
  });
}

int launch_won(Numbers numbers, const WonJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_won(numbers, [&](auto type) {
    using Type = decltype(type);
    constexpr int bytes = sizeof(typename Type::Stored);
    return launch(blocks, block_threads, stream, [job](Block& block) { won_body<Type, bytes>(block, job); });
  });
}

int launch_id_keys(const BagStepsJob& job, uint32_t blocks, CUstream_st* stream) {
  return launch(blocks, block_threads, stream, [job](Block& block) { id_key_body(block, job); });
}

int launch_ranks(const RankJob& job, CUstream_st* stream) {
  constexpr uint32_t blocks = sum_runs / block_threads;
  int code = launch(blocks, block_threads, stream, [job](Block& block) { count_heads_body(block, job); });
  if (!code) code = launch(1, block_threads, stream, [job](Block& block) { count_rows_body(block, job); });
  return code ? code : launch(blocks, block_threads, stream, [job](Block& block) { rank_body(block, job); });
}

int load_bag_steps() { return emulation::enter_call(); }

int launch_borders(const BorderJob& job, CUstream_st* stream) {
  return launch(1, block_threads, stream, [job](Block& block) { border_body(block, job); });
}

int launch_partition(PartitionStep step, const PartitionJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_partition(step, [&](auto kind) {
    return launch(blocks, block_threads, stream,
                  [job](Block& block) { partition_body<decltype(kind)::value>(block, job); });
  });
}

int load_partition_kernels() { return emulation::enter_call(); }

}  // namespace gather::cuda
