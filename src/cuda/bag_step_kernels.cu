#include "cuda/bag_step_kernels.hpp"

#include "cuda/bag_steps.hpp"
#include "cuda/device_block.hpp"

namespace gather::cuda {
namespace {

// The blocks for which a multiprocessor of compute capability 7.5 has threads, and those of later ones.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr int most_blocks = 1024 / block_threads;
#else
constexpr int most_blocks = 1536 / block_threads;
#endif

// The blocks of a multiprocessor for which a kernel has registers. ptxas decides for 0. Without a number it would spill
// some.
template <BagStep step>
constexpr int least_blocks = step == BagStep::divided_products ? (most_blocks < 5 ? most_blocks : 5) : 0;
constexpr int least_won_blocks = most_blocks;

template <BagStep step, class Type, int bytes>
__global__ void __launch_bounds__(block_threads, (least_blocks<step>))
    step_kernel(const __grid_constant__ BagStepsJob job) {
  DeviceBlock block;
  step_body<step, Type, bytes>(block, job);
}

template <class Value>
__global__ void __launch_bounds__(block_threads) divide_gradient_kernel(const __grid_constant__ BagStepsJob job) {
  DeviceBlock block;
  divide_gradient_body<Value>(block, job);
}

template <class Type>
__global__ void __launch_bounds__(block_threads, least_won_blocks) won_kernel(const __grid_constant__ WonJob job) {
  DeviceBlock block;
  won_body<Type, static_cast<int>(sizeof(typename Type::Stored))>(block, job);
}

__global__ void __launch_bounds__(block_threads) id_key_kernel(const __grid_constant__ BagStepsJob job) {
  DeviceBlock block;
  id_key_body(block, job);
}

__global__ void __launch_bounds__(block_threads) count_heads_kernel(const __grid_constant__ RankJob job) {
  DeviceBlock block;
  count_heads_body(block, job);
}

__global__ void __launch_bounds__(block_threads) count_rows_kernel(const __grid_constant__ RankJob job) {
  DeviceBlock block;
  count_rows_body(block, job);
}

__global__ void __launch_bounds__(block_threads) rank_kernel(const __grid_constant__ RankJob job) {
  DeviceBlock block;
  rank_body(block, job);
}

// Calls visit(kernel) for the kernel of a step.
template <class Visit>
int visit_kernel(BagStep step, Numbers numbers, Visit&& visit) {
  return visit_step(step, numbers, [&](auto kind) {
    using Kind = decltype(kind);
    return visit(step_kernel<Kind::step, typename Kind::Type, Kind::bytes>);
  });
}

}  // namespace

int launch_step(BagStep step, Numbers numbers, const BagStepsJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_kernel(step, numbers, [&](auto* kernel) { return launch(kernel, blocks, block_threads, stream, job); });
}

int launch_divide_gradient(Numbers numbers, const BagStepsJob& job, uint32_t blocks, CUstream_st* stream) {
  auto* const kernel = numbers == Numbers::complex64 ? divide_gradient_kernel<float> : divide_gradient_kernel<double>;
  return launch(kernel, blocks, block_threads, stream, job);
}

int launch_won(Numbers numbers, const WonJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_won(numbers,
                   [&](auto type) { return launch(won_kernel<decltype(type)>, blocks, block_threads, stream, job); });
}

int launch_id_keys(const BagStepsJob& job, uint32_t blocks, CUstream_st* stream) {
  return launch(id_key_kernel, blocks, block_threads, stream, job);
}

int launch_ranks(const RankJob& job, CUstream_st* stream) {
  constexpr uint32_t blocks = sum_runs / block_threads;
  int code = launch(count_heads_kernel, blocks, block_threads, stream, job);
  if (!code) code = launch(count_rows_kernel, 1, block_threads, stream, job);
  return code ? code : launch(rank_kernel, blocks, block_threads, stream, job);
}

int load_bag_steps() {
  int code = load_kernel(id_key_kernel);
  if (!code) code = load_kernel(count_heads_kernel);
  if (!code) code = load_kernel(count_rows_kernel);
  if (!code) code = load_kernel(rank_kernel);
  if (!code) code = load_kernel(divide_gradient_kernel<float>);
  if (!code) code = load_kernel(divide_gradient_kernel<double>);
  for (int numbers = 0; !code && numbers < number_types; ++numbers) {
    code = visit_won(static_cast<Numbers>(numbers), [](auto type) { return load_kernel(won_kernel<decltype(type)>); });
    for (int step = 0; !code && step < bag_steps; ++step) {
      const auto load_one = [](auto* kernel) { return load_kernel(kernel); };
      code = visit_kernel(static_cast<BagStep>(step), static_cast<Numbers>(numbers), load_one);
    }
  }
  return code;
}

}  // namespace gather::cuda
