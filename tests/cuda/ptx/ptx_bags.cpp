#include "cuda/bag_bodies.hpp"
#include "cuda/bag_kernels.hpp"
#include "cuda/bag_step_kernels.hpp"
#include "cuda/bag_steps.hpp"
#include "cuda/partition_bodies.hpp"
#include "cuda/partition_kernels.hpp"
#include "ptx_launch.hpp"

// The kernels of bags and partitions as nvcc compiled them.
namespace gather::cuda {

using ptx::name_of;

namespace {

constexpr uint32_t run_blocks = sum_runs / block_threads;

template <class Job>
int launch(const std::string& name, uint32_t blocks, CUstream_st* stream, const Job& job) {
  return ptx::launch(ptx::kernel_name<Job>(name), blocks, block_threads, false, stream, job);
}

template <class Job>
int launch_as(const std::string& name, const std::string& parameters, uint32_t blocks, CUstream_st* stream,
              const Job& job) {
  return ptx::launch(ptx::template_name<Job>(name, parameters), blocks, block_threads, false, stream, job);
}

template <class Step>
std::string number_of(Step step) {
  return "(" + name_of<Step>() + ")" + std::to_string(static_cast<int>(step));
}

}  // namespace

int launch_sum_lengths(const BagsJob& job, CUstream_st* stream) {
  const int code = launch("sum_runs_kernel", run_blocks, stream, job);
  return code ? code : launch("sum_lengths_kernel", run_blocks, stream, job);
}

int launch_check_bags(const BagsJob& job, uint32_t blocks, CUstream_st* stream) {
  return launch("check_bags_kernel", blocks, stream, job);
}

int launch_find_empty(const BagsJob& job, uint32_t blocks, CUstream_st* stream) {
  return launch("find_empty_kernel", blocks, stream, job);
}

int launch_pool(Numbers numbers, bool is_wide, const PoolJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_pooled(numbers, is_wide, [&](auto type, auto bytes) {
    const std::string parameters = name_of<decltype(type)>() + ", " + std::to_string(decltype(bytes)::value);
    return launch_as("pool_kernel", parameters, blocks, stream, job);
  });
}

int load_bag_kernels() { return emulation::enter_call(); }

int launch_step(BagStep step, Numbers numbers, const BagStepsJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_step(step, numbers, [&](auto kind) {
    using Kind = decltype(kind);
    const std::string parameters =
        number_of(Kind::step) + ", " + name_of<typename Kind::Type>() + ", " + std::to_string(Kind::bytes);
    return launch_as("step_kernel", parameters, blocks, stream, job);
  });
}

int launch_divide_gradient(Numbers numbers, const BagStepsJob& job, uint32_t blocks, CUstream_st* stream) {
  const char* const value = numbers == Numbers::complex64 ? "float" : "double";
  return launch_as("divide_gradient_kernel", value, blocks, stream, job);
}

int launch_won(Numbers numbers, const WonJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_won(numbers,
                   [&](auto type) { return launch_as("won_kernel", name_of<decltype(type)>(), blocks, stream, job); });
}

int launch_id_keys(const BagStepsJob& job, uint32_t blocks, CUstream_st* stream) {
  return launch("id_key_kernel", blocks, stream, job);
}

int launch_ranks(const RankJob& job, CUstream_st* stream) {
  int code = launch("count_heads_kernel", run_blocks, stream, job);
  if (!code) code = launch("count_rows_kernel", 1, stream, job);
  return code ? code : launch("rank_kernel", run_blocks, stream, job);
}

int load_bag_steps() { return emulation::enter_call(); }

int launch_borders(const BorderJob& job, CUstream_st* stream) { return launch("border_kernel", 1, stream, job); }

int launch_partition(PartitionStep step, const PartitionJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_partition(step, [&](auto kind) {
    return launch_as("partition_kernel", number_of(decltype(kind)::value), blocks, stream, job);
  });
}

int load_partition_kernels() { return emulation::enter_call(); }

}  // namespace gather::cuda
