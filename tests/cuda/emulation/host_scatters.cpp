#include "host_launch.hpp"

// host_launch.hpp defines what these headers use.
#include "cuda/atomic_bodies.hpp"
#include "cuda/line_bodies.hpp"
#include "cuda/scatter_bodies.hpp"
#include "cuda/scatter_kernels.hpp"
#include "cuda/sort.hpp"

// The kernels of scatters, run block by block, and a sort on the host.
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
  return visit_numbers(numbers, [&](auto type) {
    using Type = decltype(type);
    return visit_vector<Type>(is_wide, [&](auto bytes) {
      return launch(blocks, block_threads, stream,
                    [job](Block& block) { combine_body<Type, decltype(bytes)::value>(block, job); });
    });
  });
}

int launch_combine_long(Numbers numbers, bool is_wide, const CombineJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_numbers(numbers, [&](auto type) {
    using Type = decltype(type);
    return visit_vector<Type>(is_wide, [&](auto bytes) {
      return launch(blocks, block_threads, stream,
                    [job](Block& block) { combine_long_body<Type, decltype(bytes)::value>(block, job); });
    });
  });
}

int launch_replace(int bytes, const CombineJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_bytes(bytes, [&](auto width) {
    return launch(blocks, block_threads, stream,
                  [job](Block& block) { replace_body<decltype(width)::value>(block, job); });
  });
}

int launch_lines(Numbers numbers, const LineJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_lines(numbers, [&](auto type) {
    return launch(blocks, block_threads, stream, [job](Block& block) { line_body<decltype(type)>(block, job); });
  });
}

int launch_atomic(const SmallJob& job, const AtomicJob& how, uint32_t blocks, CUstream_st* stream) {
  return visit_atomic(how.numbers, [&](auto number) {
    return launch(blocks, block_threads, stream, [=](Block& block) { atomic_body<decltype(number)>(block, job, how); });
  });
}

int launch_clear(const ClearJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_bytes(job.bytes, [&](auto width) {
    return launch(blocks, block_threads, stream,
                  [job](Block& block) { clear_body<decltype(width)::value>(block, job); });
  });
}

int64_t most_numbered() { return emulation::counted() > 0 ? emulation::counted() : int64_t{UINT32_MAX}; }

int64_t least_lines() { return emulation::least_lines() > 0 ? emulation::least_lines() : few_lines; }

int load_scatter_kernels() { return emulation::enter_call(); }

// The sort needs no scratch memory. It asks for some, so that the size of the allocation is tested.
int sort_scratch(int64_t count, int64_t* bytes) {
  *bytes = 256 + count / 8;
  return emulation::enter_call();
}

int sort_keys(SortRoom* room, int64_t count, int32_t bits, CUstream_st* stream) {
  const SortRoom given = *room;
  std::swap(room->in, room->spare);
  return launch(1, 1, stream, [=](Block&) {
    std::vector<uint32_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0u);
    const uint32_t mask = bits < 32 ? (1u << bits) - 1 : ~0u;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return (given.in.slices[a] & mask) < (given.in.slices[b] & mask); });
    for (size_t i = 0; i < order.size(); ++i) {
      given.spare.slices[i] = given.in.slices[order[i]];
      given.spare.updates[i] = given.in.updates[order[i]];
    }
    std::memset(given.scratch, 0xa5, static_cast<size_t>(given.scratch_bytes));
  });
}

int load_sort(CUstream_st*) { return emulation::enter_call(); }

GATHER_INSTANTIATE_SCATTERS

}  // namespace gather::cuda
