#pragma once

#include "cuda/gather_kernels.hpp"
#include "cuda/kernel_job.hpp"

// A block of threads of the device, and launches. Only sources that nvcc compiles include this file.
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
  __device__ void each(F&& f) {
    f(threadIdx.x);
  }

  template <class F>
  __device__ void in_turn(F&& f) {
    f(threadIdx.x);
    __syncthreads();
  }

  __device__ char* stage() const {
    __shared__ alignas(16) char memory[stage_bytes];
    return memory;
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

// Like the function in runtime.cpp: leaves no error behind.
int settled(cudaError_t code) {
  if (code != cudaSuccess) cudaGetLastError();
  return code;
}

// Loads a kernel into the current context.
template <class Kernel>
int load_kernel(Kernel* kernel, cudaFuncAttributes* attributes) {
  return settled(cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel)));
}
template <class Kernel>
int load_kernel(Kernel* kernel) {
  cudaFuncAttributes attributes{};
  return load_kernel(kernel, &attributes);
}

template <class Kernel, class... Arguments>
int launch(Kernel* kernel, uint32_t blocks, uint32_t threads, CUstream_st* stream, Arguments... arguments) {
  void* pointers[] = {&arguments...};
  const auto* function = reinterpret_cast<const void*>(kernel);
  return settled(cudaLaunchKernel(function, dim3(blocks), dim3(threads), pointers, 0, stream));
}

}  // namespace
}  // namespace gather::cuda
