#include "cuda/gather_kernels.hpp"

#include "cuda/bodies.hpp"
#include "cuda/device_block.hpp"

namespace gather::cuda {
namespace {

// The number of blocks for which a multiprocessor must have registers. With three blocks, kernels that make vectors of
// jobs that are slow to decode would spill hundreds of bytes per thread to memory.
template <Copy copy, class Job>
constexpr int copying_blocks = (copy == Copy::unaligned || copy == Copy::words) && !Job::is_direct ? 2 : 3;

template <Copy copy, class Index, class Job>
__global__ void __launch_bounds__(block_threads, copying_blocks<copy, Job>)
    copy_kernel(const __grid_constant__ Job job) {
  DeviceBlock block;
  copy_body<copy, Index>(block, job);
}

template <class Index, class Job>
__global__ void __launch_bounds__(block_threads) validate_kernel(const __grid_constant__ Job job) {
  DeviceBlock block;
  validate_body<Index>(block, job);
}

template <class Job>
__global__ void report_first_kernel(const __grid_constant__ Job job) {
  DeviceBlock block;
  report_first_body(block, job);
}

__global__ void take_kernel(gth_error_record* record, gth_error_record* to) { take_record(record, to); }

// Launches a grid whose blocks may start before the previous grid has ended. The kernel waits for the previous grid
// where it needs its results.
template <class Kernel, class Job>
int launch_overlapping(Kernel* kernel, uint32_t blocks, CUstream_st* stream, Job job) {
  void* pointers[] = {&job};
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(block_threads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return settled(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), pointers));
}

// A kernel can overlap only if both its PTX and its machine code are for 9.0 or newer.
template <class Kernel>
int load(Kernel* kernel, Capacity* capacity) {
  cudaFuncAttributes attributes{};
  const int code = load_kernel(kernel, &attributes);
  capacity->is_for_9_0 &= attributes.ptxVersion >= 90 && attributes.binaryVersion >= 90;
  return code;
}

template <class Kernel>
int load_resident(Kernel* kernel, Capacity* capacity, uint8_t* resident) {
  int blocks = 0;
  if (const int code = load(kernel, capacity)) return code;
  const auto* function = reinterpret_cast<const void*>(kernel);
  const int code = settled(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, block_threads, 0));
  *resident = static_cast<uint8_t>(blocks);
  return code;
}

// Loads all kernels of one type of job and one way of loading indices.
template <class Job>
int load_family(Reading reading, Capacity* capacity) {
  const int family = family_of<Job>(reading);
  for (int copy = 0; copy < copies; ++copy) {
    const int code = visit_copy<Job>(static_cast<Copy>(copy), reading, [&](auto k) {
      using Kernel = decltype(k);
      auto* kernel = copy_kernel<Kernel::copy, typename Kernel::Index, typename Kernel::Job>;
      return load_resident(kernel, capacity, &capacity->copying[family][copy]);
    });
    if (code > 0) return code;
  }
  return visit_reading<Job>(reading, [&](auto k) {
    return load_resident(validate_kernel<typename decltype(k)::Index, Job>, capacity, &capacity->validating[family]);
  });
}

int ask_device(Capacity* capacity) {
  int device = 0, cache = 0;
  int code = settled(cudaGetDevice(&device));
  if (!code) code = settled(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device));
  capacity->cache = cache;
  capacity->is_for_9_0 = true;  // cleared if a kernel is for an older one
  return code;
}

}  // namespace

template <class Job>
int launch_copy(Copy copy, Reading reading, const Job& job, uint32_t blocks, bool overlaps, CUstream_st* stream) {
  return visit_copy<Job>(copy, reading, [&](auto k) {
    using Kernel = decltype(k);
    auto* kernel = copy_kernel<Kernel::copy, typename Kernel::Index, typename Kernel::Job>;
    const typename Kernel::Job of_kernel{job};
    if (overlaps) return launch_overlapping(kernel, blocks, stream, of_kernel);
    return launch(kernel, blocks, block_threads, stream, of_kernel);
  });
}

template <class Job>
int launch_validate(Reading reading, const Job& job, uint32_t blocks, CUstream_st* stream) {
  return visit_reading<Job>(reading, [&](auto k) {
    return launch(validate_kernel<typename decltype(k)::Index, Job>, blocks, block_threads, stream, job);
  });
}

template <class Job>
int launch_report_first(const Job& job, CUstream_st* stream) {
  return launch(report_first_kernel<Job>, 1, 1, stream, job);
}

int launch_take(gth_error_record* record, gth_error_record* to, CUstream_st* stream) {
  return launch(take_kernel, 1, 1, stream, record, to);
}

int64_t most_counted() { return largest_count; }

int load_kernels(Capacity* capacity) {
  int code = ask_device(capacity);
  if (!code) code = load_family<DirectJob>(Reading::index4, capacity);
  if (!code) code = load_family<DirectJob>(Reading::index8, capacity);
  for (const Reading reading :
       {Reading::any, Reading::two_loops, Reading::three_loops, Reading::pairs, Reading::triples, Reading::tuples}) {
    if (!code) code = load_family<SmallJob>(reading, capacity);
  }
  if (!code) code = load_family<AnyJob>(Reading::any, capacity);
  if (!code) code = load(report_first_kernel<AnyJob>, capacity);
  if (!code) code = load(take_kernel, capacity);
  return code;
}

GATHER_INSTANTIATE_LAUNCHES

}  // namespace gather::cuda
