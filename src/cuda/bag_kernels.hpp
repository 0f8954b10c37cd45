#pragma once

#include <cstdint>

#include "cuda/bag_job.hpp"
#include "cuda/gather_kernels.hpp"

// Launches of the kernels of bags. Each function returns CUDA's error number, or 0.
namespace gather::cuda {

// Computes job.begin. Precondition: the bags have lengths.
int launch_sum_lengths(const BagsJob& job, CUstream_st* stream);
// Validates bags, and initializes the results in the state.
int launch_check_bags(const BagsJob& job, uint32_t blocks, CUstream_st* stream);
// Refuses the call if a bag is empty.
int launch_find_empty(const BagsJob& job, uint32_t blocks, CUstream_st* stream);
// is_wide: a column is a vector, and not an element.
int launch_pool(Numbers numbers, bool is_wide, const PoolJob& job, uint32_t blocks, CUstream_st* stream);

// Loads every kernel into the current context.
int load_bag_kernels();

}  // namespace gather::cuda
