#pragma once

#include <cstdint>

#include "cuda/partition_job.hpp"

struct CUstream_st;

// Launches of the kernels of partitions. Each function returns CUDA's error number, or 0.
namespace gather::cuda {

int launch_borders(const BorderJob& job, CUstream_st* stream);
int launch_partition(PartitionStep step, const PartitionJob& job, uint32_t blocks, CUstream_st* stream);

// Loads every kernel into the current context.
int load_partition_kernels();

}  // namespace gather::cuda
