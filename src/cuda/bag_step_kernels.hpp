#pragma once

#include <cstdint>

#include "cuda/bag_steps_job.hpp"
#include "cuda/numbers.hpp"

struct CUstream_st;

// Launches of the kernels of the gradients and positions of bags. Each function returns CUDA's error number, or 0.
namespace gather::cuda {

int launch_step(BagStep step, Numbers numbers, const BagStepsJob& job, uint32_t blocks, CUstream_st* stream);
// Precondition: the numbers are complex.
int launch_divide_gradient(Numbers numbers, const BagStepsJob& job, uint32_t blocks, CUstream_st* stream);
int launch_won(Numbers numbers, const WonJob& job, uint32_t blocks, CUstream_st* stream);
int launch_id_keys(const BagStepsJob& job, uint32_t blocks, CUstream_st* stream);
// Computes the ranks and the number of rows.
int launch_ranks(const RankJob& job, CUstream_st* stream);

// Loads every kernel into the current context.
int load_bag_steps();

}  // namespace gather::cuda
