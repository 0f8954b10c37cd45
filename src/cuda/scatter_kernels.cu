#include "cuda/scatter_kernels.hpp"

#include "cuda/atomic_bodies.hpp"
#include "cuda/device_block.hpp"
#include "cuda/line_bodies.hpp"
#include "cuda/scatter_bodies.hpp"

namespace gather::cuda {
namespace {

template <class Index, class Job>
__global__ void __launch_bounds__(block_threads)
    key_kernel(const __grid_constant__ Job job, const __grid_constant__ KeyJob keys) {
  DeviceBlock block;
  key_body<Index>(block, job, keys);
}

template <class Index, class Job>
__global__ void __launch_bounds__(block_threads)
    few_keys_kernel(const __grid_constant__ Job job, const __grid_constant__ KeyJob keys, Keys sorted) {
  DeviceBlock block;
  few_keys_body<Index>(block, job, keys, sorted);
}

__global__ void __launch_bounds__(block_threads) lift_kernel(Keys keys, const WideUpdate* wide, uint32_t count) {
  DeviceBlock block;
  lift_body(block, keys, wide, count);
}

// The blocks of a multiprocessor for which a kernel has registers. ptxas decides for 0. Without a number it would spill
// some.
template <class Type, int bytes>
constexpr int least_blocks = bytes >= 8 && sizeof(typename Type::Stored) >= 4 ? 4 : 0;

template <class Type, int bytes, bool scaled>
__global__ void __launch_bounds__(block_threads, (least_blocks<Type, bytes>))
    combine_kernel(const __grid_constant__ CombineJob job) {
  DeviceBlock block;
  combine_body<Type, bytes, scaled>(block, job);
}

// A multiprocessor has one block.
template <class Type, int bytes>
__global__ void __launch_bounds__(block_threads, 1) combine_long_kernel(const __grid_constant__ CombineJob job) {
  DeviceBlock block;
  combine_long_body<Type, bytes>(block, job);
}

template <int bytes>
__global__ void __launch_bounds__(block_threads) replace_kernel(const __grid_constant__ CombineJob job) {
  DeviceBlock block;
  replace_body<bytes>(block, job);
}

template <class Type>
__global__ void __launch_bounds__(block_threads) position_kernel(const __grid_constant__ PositionJob job) {
  DeviceBlock block;
  position_body<Type>(block, job);
}

template <int bytes>
__global__ void __launch_bounds__(block_threads) line_kernel(const __grid_constant__ LineJob job) {
  DeviceBlock block;
  line_body<bytes>(block, job);
}

template <int bytes>
__global__ void __launch_bounds__(block_threads)
    atomic_kernel(const __grid_constant__ SmallJob job, const __grid_constant__ AtomicJob how) {
  DeviceBlock block;
  atomic_body<bytes>(block, job, how);
}

template <int bytes>
__global__ void __launch_bounds__(block_threads) strided_kernel(const __grid_constant__ StridedJob job) {
  DeviceBlock block;
  strided_body<bytes>(block, job);
}

template <class Job>
int load_keys(Reading reading) {
  return visit_reading<Job>(reading, [](auto k) {
    using Index = typename decltype(k)::Index;
    const int code = load_kernel(key_kernel<Index, Job>);
    return code ? code : load_kernel(few_keys_kernel<Index, Job>);
  });
}

template <class Visit>
int visit_combine_kernel(Numbers numbers, bool is_wide, bool is_scaled, Visit&& visit) {
  return visit_combined(numbers, is_wide, is_scaled, [&](auto type, auto bytes, auto scaled) {
    return visit(combine_kernel<decltype(type), decltype(bytes)::value, decltype(scaled)::value>);
  });
}

template <class Visit>
int visit_long_kernel(Numbers numbers, bool is_wide, Visit&& visit) {
  return visit_long(numbers, is_wide, [&](auto type, auto bytes) {
    return visit(combine_long_kernel<decltype(type), decltype(bytes)::value>);
  });
}

int load_combine(Numbers numbers, bool is_wide) {
  const auto load_one = [](auto* kernel) { return load_kernel(kernel); };
  int code = visit_combine_kernel(numbers, is_wide, false, load_one);
  if (!code) code = visit_combine_kernel(numbers, is_wide, true, load_one);
  return code ? code : visit_long_kernel(numbers, is_wide, load_one);
}

}  // namespace

template <class Job>
int launch_keys(Reading reading, const Job& job, const KeyJob& keys, uint32_t blocks, CUstream_st* stream) {
  return visit_reading<Job>(reading, [&](auto k) {
    return launch(key_kernel<typename decltype(k)::Index, Job>, blocks, block_threads, stream, job, keys);
  });
}

template <class Job>
int launch_few_keys(Reading reading, const Job& job, const KeyJob& keys, const Keys& sorted, CUstream_st* stream) {
  return visit_reading<Job>(reading, [&](auto k) {
    return launch(few_keys_kernel<typename decltype(k)::Index, Job>, 1, block_threads, stream, job, keys, sorted);
  });
}

int launch_lift(const Keys& keys, const WideUpdate* wide, uint32_t count, uint32_t blocks, CUstream_st* stream) {
  return launch(lift_kernel, blocks, block_threads, stream, keys, wide, count);
}

int launch_combine(Numbers numbers, bool is_wide, const CombineJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_combine_kernel(numbers, is_wide, job.scales,
                              [&](auto* kernel) { return launch(kernel, blocks, block_threads, stream, job); });
}

int launch_combine_long(Numbers numbers, bool is_wide, const CombineJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_long_kernel(numbers, is_wide,
                           [&](auto* kernel) { return launch(kernel, blocks, block_threads, stream, job); });
}

int launch_replace(int bytes, const CombineJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_bytes(bytes, [&](auto width) {
    return launch(replace_kernel<decltype(width)::value>, blocks, block_threads, stream, job);
  });
}

int launch_positions(Numbers numbers, const PositionJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_ordered(
      numbers, [&](auto type) { return launch(position_kernel<decltype(type)>, blocks, block_threads, stream, job); });
}

int launch_lines(int bytes, const LineJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_bytes(bytes, [&](auto width) {
    return launch(line_kernel<decltype(width)::value>, blocks, block_threads, stream, job);
  });
}

int launch_atomic(int bytes, const SmallJob& job, const AtomicJob& how, uint32_t blocks, CUstream_st* stream) {
  auto* const kernel = bytes == 4 ? atomic_kernel<4> : bytes == 8 ? atomic_kernel<8> : atomic_kernel<16>;
  return launch(kernel, blocks, block_threads, stream, job, how);
}

int launch_strided(const StridedJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_bytes(job.bytes, [&](auto width) {
    return launch(strided_kernel<decltype(width)::value>, blocks, block_threads, stream, job);
  });
}

int64_t most_numbered() { return UINT32_MAX; }

int64_t least_lines() { return few_lines; }

int load_scatter_kernels() {
  int code = load_keys<DirectJob>(Reading::index4);
  if (!code) code = load_keys<DirectJob>(Reading::index8);
  if (!code) code = load_keys<SmallJob>(Reading::any);
  if (!code) code = load_keys<AnyJob>(Reading::any);
  if (!code) code = load_kernel(lift_kernel);
  if (!code) code = load_kernel(atomic_kernel<4>);
  if (!code) code = load_kernel(atomic_kernel<8>);
  if (!code) code = load_kernel(atomic_kernel<16>);
  for (int i = 0; !code && i < number_types; ++i) {
    const auto numbers = static_cast<Numbers>(i);
    for (const bool is_wide : {false, true}) {
      if (!code) code = load_combine(numbers, is_wide);
    }
    if (!code) code = visit_ordered(numbers, [](auto t) { return load_kernel(position_kernel<decltype(t)>); });
  }
  for (int bytes = 1; !code && bytes <= 16; bytes *= 2) {
    code = visit_bytes(bytes, [](auto width) {
      int loaded = load_kernel(line_kernel<decltype(width)::value>);
      if (!loaded) loaded = load_kernel(replace_kernel<decltype(width)::value>);
      return loaded ? loaded : load_kernel(strided_kernel<decltype(width)::value>);
    });
  }
  return code;
}

GATHER_INSTANTIATE_SCATTERS

}  // namespace gather::cuda
