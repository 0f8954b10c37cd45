#include "cuda/sort.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <utility>

#include "cuda/device_block.hpp"

namespace gather::cuda {
namespace {

int sort(SortRoom* room, size_t* bytes, int64_t count, int32_t bits, cudaStream_t stream) {
  cub::DoubleBuffer<uint32_t> slices(room->in.slices, room->spare.slices);
  cub::DoubleBuffer<uint32_t> updates(room->in.updates, room->spare.updates);
  const int code =
      settled(cub::DeviceRadixSort::SortPairs(room->scratch, *bytes, slices, updates, count, 0, bits, stream));
  if (slices.Current() == room->spare.slices) std::swap(room->in, room->spare);
  return code;
}

// CUB sorts few keys in one block, and more keys with other kernels.
constexpr int64_t one_block = 1, several_blocks = 10000;

int sort_zeros(void* memory, int64_t count, size_t scratch_bytes, CUstream_st* stream) {
  uint32_t* const numbers = static_cast<uint32_t*>(memory);
  SortRoom room{{numbers, numbers + count},
                {numbers + 2 * count, numbers + 3 * count},
                numbers + 4 * several_blocks,
                static_cast<int64_t>(scratch_bytes)};
  return sort_keys(&room, count, 32, stream);
}

}  // namespace

int sort_scratch(int64_t count, int64_t* bytes) {
  size_t needed = 0;
  SortRoom none{};
  const int code = sort(&none, &needed, count, 32, nullptr);
  *bytes = static_cast<int64_t>(needed);
  return code;
}

int sort_keys(SortRoom* room, int64_t count, int32_t bits, CUstream_st* stream) {
  size_t bytes = static_cast<size_t>(room->scratch_bytes);
  return sort(room, &bytes, count, bits, stream);
}

int load_sort(CUstream_st* stream) {
  int64_t scratch = 0;
  int code = sort_scratch(several_blocks, &scratch);
  if (code) return code;
  const size_t keys = 4 * several_blocks * sizeof(uint32_t), bytes = keys + static_cast<size_t>(scratch);
  void* memory = nullptr;
  code = settled(cudaMalloc(&memory, bytes));
  if (code) return code;
  code = settled(cudaMemsetAsync(memory, 0, bytes, stream));
  if (!code) code = sort_zeros(memory, one_block, static_cast<size_t>(scratch), stream);
  if (!code) code = sort_zeros(memory, several_blocks, static_cast<size_t>(scratch), stream);
  const int waited = settled(cudaStreamSynchronize(stream));
  const int freed = settled(cudaFree(memory));
  return code ? code : waited ? waited : freed;
}

}  // namespace gather::cuda
