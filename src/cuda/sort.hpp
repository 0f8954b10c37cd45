#pragma once

#include <cstdint>

#include "cuda/scatter_job.hpp"

struct CUstream_st;

// The stable sort of updates by slice. sort.cu implements it with CUB. The emulated device sorts on the host. Each
// function returns CUDA's error number, or 0.
namespace gather::cuda {

// The keys of `count` updates, as much other memory, and scratch memory. After a sort, the keys are in `in` or in
// `spare`.
struct SortRoom {
  Keys in, spare;
  void* scratch;
  int64_t scratch_bytes;
};

// Computes the scratch memory. It depends on no data.
int sort_scratch(int64_t count, int64_t* bytes);

// Sorts the updates by the lowest `bits` bits of their slices. Updates of one slice keep their order. Swaps `in` and
// `spare` if the sorted keys are there.
int sort_keys(SortRoom* room, int64_t count, int32_t bits, CUstream_st* stream);

// Loads the kernels of the sort, so that it may be captured. Waits for the stream.
int load_sort(CUstream_st* stream);

}  // namespace gather::cuda
