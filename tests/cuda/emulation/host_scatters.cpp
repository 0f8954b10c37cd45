#include "host_launch.hpp"

// host_launch.hpp defines what these headers use.
#include "cuda/atomic_bodies.hpp"
#include "cuda/line_bodies.hpp"
#include "cuda/scatter_bodies.hpp"
#include "cuda/scatter_kernels.hpp"

// The kernels of scatters, run block by block.
namespace gather::cuda {

using emulation::Block;
using emulation::launch;

template <class Job>
int launch_keys(Reading reading, const Job& job, const KeyJob& keys, uint32_t blocks, CUstream_st* stream) {
  return visit_reading<Job>(reading, [&](auto k) {
    using Index = typename decltype(k)::Index;
    return launch(blocks, block_threads, stream, [=](Block& block) { key_body<Index>(block, job, keys); });
  });
}

template <class Job>
int launch_few_keys(Reading reading, const Job& job, const KeyJob& keys, const Keys& sorted, CUstream_st* stream) {
  return visit_reading<Job>(reading, [&](auto k) {
    using Index = typename decltype(k)::Index;
    return launch(1, block_threads, stream, [=](Block& block) { few_keys_body<Index>(block, job, keys, sorted); });
  });
}

int launch_lift(const Keys& keys, const WideUpdate* wide, uint32_t count, uint32_t blocks, CUstream_st* stream) {
  return launch(blocks, block_threads, stream, [=](Block& block) { lift_body(block, keys, wide, count); });
}

int launch_combine(Numbers numbers, bool is_wide, const CombineJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_combined(numbers, is_wide, job.scales, [&](auto type, auto bytes, auto scaled) {
    return launch(blocks, block_threads, stream, [job](Block& block) {
      combine_body<decltype(type), decltype(bytes)::value, decltype(scaled)::value>(block, job);
    });
  });
}

int launch_combine_long(Numbers numbers, bool is_wide, const CombineJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_long(numbers, is_wide, [&](auto type, auto bytes) {
    return launch(blocks, block_threads, stream,
                  [job](Block& block) { combine_long_body<decltype(type), decltype(bytes)::value>(block, job); });
  });
}

int launch_replace(int bytes, const CombineJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_bytes(bytes, [&](auto width) {
    return launch(blocks, block_threads, stream,
                  [job](Block& block) { replace_body<decltype(width)::value>(block, job); });
  });
}

int launch_positions(Numbers numbers, const PositionJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_ordered(numbers, [&](auto type) {
    return launch(blocks, block_threads, stream, [job](Block& block) { position_body<decltype(type)>(block, job); });
  });
}

int launch_lines(int bytes, const LineJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_bytes(bytes, [&](auto width) {
    return launch(blocks, block_threads, stream,
                  [job](Block& block) { line_body<decltype(width)::value>(block, job); });
  });
}

int launch_atomic(int bytes, const SmallJob& job, const AtomicJob& how, uint32_t blocks, CUstream_st* stream) {
  return launch(blocks, block_threads, stream, [=](Block& block) {
    bytes == 4   ? atomic_body<4>(block, job, how)
    : bytes == 8 ? atomic_body<8>(block, job, how)
                 : atomic_body<16>(block, job, how);
  });
}

int launch_strided(const StridedJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_bytes(job.bytes, [&](auto width) {
    return launch(blocks, block_threads, stream,
                  [job](Block& block) { strided_body<decltype(width)::value>(block, job); });
  });
}

int64_t most_numbered() { return emulation::counted() > 0 ? emulation::counted() : int64_t{UINT32_MAX}; }

int64_t least_lines() { return emulation::least_lines() > 0 ? emulation::least_lines() : few_lines; }

int load_scatter_kernels() { return emulation::enter_call(); }

GATHER_INSTANTIATE_SCATTERS

}  // namespace gather::cuda
