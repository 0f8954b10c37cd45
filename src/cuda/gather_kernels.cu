#include "cuda/gather_kernels.hpp"

#include "cuda/bodies.hpp"

namespace gather::cuda {
namespace {

constexpr unsigned long long no_position = ~0ull;

// The current block of threads. Its members use shared memory, so a kernel has one object.
class DeviceBlock {
 public:
  __device__ uint32_t index() const { return blockIdx.x; }
  __device__ uint32_t count() const { return gridDim.x; }
  __device__ uint32_t threads() const { return block_threads; }

  template <class F>
  __device__ bool any(F&& f) {
    return __syncthreads_or(f(threadIdx.x));
  }

  // Each tuple is validated by one thread of a block, so two findings never have the same position. The result is loaded
  // from shared memory. So the assembler proves that it is the same for all threads, and uses uniform registers for the
  // rest of the kernel.
  template <class F>
  __device__ bool finds(F&& f) {
    __shared__ unsigned long long position;
    if (threadIdx.x == 0) position = no_position;
    __syncthreads();
    const Finding mine = f(threadIdx.x);
    const unsigned long long mine_at = static_cast<unsigned long long>(mine.position);
    if (mine_at != no_position) atomicMin(&position, mine_at);
    __syncthreads();
    if (position == no_position) return false;
    if (mine_at == position) found() = mine;
    __syncthreads();
    return true;
  }

  // In shared memory, so that no thread keeps it in registers while it copies.
  __device__ Finding& found() const {
    __shared__ Finding finding;
    return finding;
  }

  template <class F>
  __device__ void once(F&& f) {
    if (threadIdx.x == 0) f();
  }

  // Both functions do nothing in a grid that was launched without overlap, and on devices without support for it.
  __device__ void lets_next_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  }
  __device__ void waits_for_previous() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  }
};

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

// Like the function in runtime.cpp: leaves no error behind.
int settled(cudaError_t code) {
  if (code != cudaSuccess) cudaGetLastError();
  return code;
}

template <class Kernel, class... Arguments>
int launch(Kernel* kernel, uint32_t blocks, uint32_t threads, CUstream_st* stream, Arguments... arguments) {
  void* pointers[] = {&arguments...};
  const auto* function = reinterpret_cast<const void*>(kernel);
  return settled(cudaLaunchKernel(function, dim3(blocks), dim3(threads), pointers, 0, stream));
}

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
  const int code = settled(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  capacity->overlaps_grids &= attributes.ptxVersion >= 90 && attributes.binaryVersion >= 90;
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
      return load_resident(copy_kernel<Kernel::copy, typename Kernel::Index, Job>, capacity,
                           &capacity->copying[family][copy]);
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
  capacity->overlaps_grids = true;  // cleared if a kernel cannot overlap
  return code;
}

}  // namespace

template <class Job>
int launch_copy(Copy copy, Reading reading, const Job& job, uint32_t blocks, bool overlaps, CUstream_st* stream) {
  return visit_copy<Job>(copy, reading, [&](auto k) {
    using Kernel = decltype(k);
    auto* kernel = copy_kernel<Kernel::copy, typename Kernel::Index, Job>;
    if (overlaps) return launch_overlapping(kernel, blocks, stream, job);
    return launch(kernel, blocks, block_threads, stream, job);
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
  // Prevents that this becomes part of a capture by another stream of this thread. Precondition: the device is current.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  int code = ask_device(capacity);
  if (!code) code = load_family<DirectJob>(Reading::index4, capacity);
  if (!code) code = load_family<DirectJob>(Reading::index8, capacity);
  if (!code) code = load_family<SmallJob>(Reading::any, capacity);
  if (!code) code = load_family<AnyJob>(Reading::any, capacity);
  if (!code) code = load(report_first_kernel<AnyJob>, capacity);
  if (!code) code = load(take_kernel, capacity);
  cudaThreadExchangeStreamCaptureMode(&mode);
  return code;
}

GATHER_INSTANTIATE_LAUNCHES

}  // namespace gather::cuda
