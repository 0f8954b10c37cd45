#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/os/memory.hpp"
#include "cpu/executor.hpp"
#include "cuda/cuda.hpp"

namespace gather::execution {

using core::Error;
using core::fail_memory;

// The allocator of outputs. Each storage that it has allocated contains a copy.
struct MemoryHooks {
  gth_alloc_fn alloc;
  gth_free_fn free;
  void* user;
};

struct Context : core::Allocated {
  int32_t device;  // GTH_DEVICE_CPU or GTH_DEVICE_CUDA
  int32_t device_id;
  CUstream_st* stream;
  MemoryHooks memory;  // If alloc is nullptr, the library allocates.
  cpu::Executor executor;
  cuda::Context* cuda;  // nullptr on the CPU
};

// Rejects a context on a device, with the reason.
int32_t check_cpu(const Context& context, const char* reason, const Error& error);

// Returns the executor of a context. If `threads` is above 0, it replaces the number of threads of the context.
cpu::Executor executor_for(const Context& context, int32_t threads);

}  // namespace gather::execution
