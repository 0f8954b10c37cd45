#include <algorithm>
#include <atomic>

#include "cuda/cuda.hpp"
#include "cuda/failure.hpp"
#include "cuda/fork.hpp"
#include "cuda/runtime.hpp"

namespace gather::cuda {
namespace {

// Only a successful query is cached, because a driver may be installed later.
std::atomic<int32_t> known_devices{-1};

int32_t count_devices() {
  const int32_t known = known_devices.load(std::memory_order_relaxed);
  if (known >= 0) return known;
  int32_t count = 0;
  if (is_forked() || runtime::driver_version() == 0) return 0;
  watch_forks();
  if (runtime::device_count(&count)) return 0;
  known_devices.store(count, std::memory_order_relaxed);
  return count;
}

}  // namespace

void describe_machine(gth_capability_info* info) {
  info->cuda_runtime = runtime::version();
  info->cuda_driver = runtime::driver_version();
  const int32_t count = std::min<int32_t>(is_forked() ? 0 : count_devices(), GTH_MAX_DEVICES);
  for (int32_t id = 0; id < count; ++id) {
    runtime::DeviceFacts facts;
    if (runtime::device_facts(id, &facts)) break;
    info->device_compute[id] = facts.compute;
    info->device_memory[id] = facts.memory;
    info->device_count = id + 1;
  }
}

int32_t find_device_of(const void* data, int32_t* id, const Error& error) {
  if (is_forked()) return fail_fork(error);
  *id = 0;
  int32_t found = -1;
  bool is_known = false;
  if (const int code = data ? runtime::device_of(data, &found, &is_known) : 0)
    return fail_cuda(code, "tensor", 0, error);
  if (found >= 0) *id = found;
  return GTH_OK;
}

bool has_device(int32_t id) { return id >= 0 && id < count_devices(); }

}  // namespace gather::cuda
