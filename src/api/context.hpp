#pragma once

#include <cstdint>

#include "api/fence.hpp"
#include "core/os/memory.hpp"
#include "cpu/executor.hpp"
#include "cuda/cuda.hpp"

namespace gather::api {

// Where memory of outputs comes from. Lives on in every storage made with it.
struct MemoryHooks {
  gth_alloc_fn alloc;
  gth_free_fn free;
  void* user;
};

struct Context : core::Allocated {
  int32_t device;  // GTH_DEVICE_CPU or GTH_DEVICE_CUDA
  int32_t device_id;
  CUstream_st* stream;
  MemoryHooks memory;  // alloc nullptr: the library's own
  cpu::Executor executor;
  cuda::Context* cuda;  // nullptr on the CPU
};

extern const Context default_context;

// The context of a handle; NULL is the default CPU context.
int32_t find_live_context(gth_context* handle, const Context** out, const Error& error);
inline int32_t find_context(gth_context* handle, const Context** out, const Error& error) {
  *out = &default_context;
  return handle ? find_live_context(handle, out, error) : GTH_OK;
}

// The executor of a context for a call that may lower the number of threads.
cpu::Executor executor_for(const Context& context, int32_t threads);

}  // namespace gather::api
