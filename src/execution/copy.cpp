#include "execution/copy.hpp"

#include "core/os/memory.hpp"
#include "core/plan/layout.hpp"
#include "core/plan/lower.hpp"
#include "core/types/device.hpp"
#include "execution/execute.hpp"

namespace gather::execution {
namespace {

using core::Plan;

bool is_pageable(const gth_tensor_desc& desc) { return core::is_pageable(desc.device); }

// Returns the description with pageable memory declared as pinned if the context is on a CUDA device. The plan then
// accepts it. run_copy() copies pageable memory without kernels.
gth_tensor_desc as_pinned(const Context& context, const gth_tensor_desc& desc) {
  gth_tensor_desc result = desc;
  if (context.cuda && is_pageable(desc)) result.device = GTH_DEVICE_CUDA_HOST;
  return result;
}

int32_t lower_and_check(const Context& context, const gth_tensor_desc& source, const gth_tensor_desc& destination,
                        Plan* plan, const Error& error) {
  const int32_t status = core::lower_copy(as_pinned(context, source), as_pinned(context, destination), context.device,
                                          context.device_id, plan, error);
  return status ? status
                : core::check_run(*plan, core::pointers_of(source.data, nullptr, destination.data), GTH_OPEN, nullptr,
                                  error);
}

// Returns true if all bytes are contiguous in both tensors. The plan then has one loop, over its single tuple.
bool is_contiguous_copy(const Plan& plan) { return plan.end == 1; }

// Returns the description of a dense copy of a tensor in host memory.
gth_tensor_desc packed(const gth_tensor_desc& desc, void* data, int64_t bytes) {
  gth_tensor_desc result = desc;
  result.data = data;
  result.strides = nullptr;
  result.offset = 0;
  result.extent = bytes;
  result.flags = 0;
  result.device = GTH_DEVICE_CPU;
  return result;
}

int32_t copy_on_host(const Context& context, const gth_tensor_desc& source, const gth_tensor_desc& destination,
                     const Error& error) {
  Plan plan;
  const int32_t status = core::lower_copy(source, destination, GTH_DEVICE_CPU, 0, &plan, error);
  return status ? status
                : cpu::run(plan, cpu::choose_kernels(plan), core::pointers_of(source.data, nullptr, destination.data),
                           GTH_OPEN, Output::callers, context.executor, error);
}

int32_t copy_on_device(const Context& context, const gth_tensor_desc& source, const gth_tensor_desc& destination,
                       const Error& error) {
  Plan plan;
  const int32_t status = lower_and_check(context, source, destination, &plan, error);
  return status ? status
                : execute_once(context, plan, core::pointers_of(source.data, nullptr, destination.data),
                               Output::callers, error);
}

gth_tensor_desc packed_on_device(const Context& context, const gth_tensor_desc& desc, void* data, int64_t bytes) {
  gth_tensor_desc result = packed(desc, data, bytes);
  result.device = GTH_DEVICE_CUDA;
  result.device_id = context.device_id;
  return result;
}

// Dense memory on the host and on the device for a staged copy.
struct StagingMemory {
  void *host, *device;
  int64_t bytes;
};

int32_t copy_to_device(const Context& context, const gth_tensor_desc& source, const gth_tensor_desc& destination,
                       const StagingMemory& room, const Error& error) {
  const gth_tensor_desc on_host = packed(source, room.host, room.bytes);
  const gth_tensor_desc on_device = packed_on_device(context, source, room.device, room.bytes);
  int32_t status = copy_on_host(context, source, on_host, error);
  if (!status) status = cuda::copy_bytes(*context.cuda, room.device, room.host, room.bytes, error);
  if (!status) status = copy_on_device(context, on_device, destination, error);
  const int32_t waited = cuda::synchronize(*context.cuda, status ? Error(nullptr) : error);
  return status ? status : waited;
}

int32_t copy_to_host(const Context& context, const gth_tensor_desc& source, const gth_tensor_desc& destination,
                     const StagingMemory& room, const Error& error) {
  const gth_tensor_desc on_host = packed(source, room.host, room.bytes);
  const gth_tensor_desc on_device = packed_on_device(context, source, room.device, room.bytes);
  int32_t status = copy_on_device(context, source, on_device, error);
  if (!status) status = cuda::copy_bytes(*context.cuda, room.host, room.device, room.bytes, error);
  const int32_t waited = cuda::synchronize(*context.cuda, status ? Error(nullptr) : error);
  if (!status) status = waited;
  return status ? status : copy_on_host(context, on_host, destination, error);
}

// Copies between strided pageable memory and a device. The elements are packed on one side and unpacked on the other.
// The call waits until the copy is complete.
int32_t copy_staged(const Context& context, const gth_tensor_desc& source, const gth_tensor_desc& destination,
                    int64_t bytes, const Error& error) {
  StagingMemory room{core::allocate(static_cast<size_t>(bytes)), nullptr, bytes};
  if (!room.host) return fail_memory(bytes, error);
  int32_t status = cuda::allocate(*context.cuda, bytes, &room.device, error);
  if (!status) {
    status = is_pageable(source) ? copy_to_device(context, source, destination, room, error)
                                 : copy_to_host(context, source, destination, room, error);
    cuda::deallocate(*context.cuda, room.device);
  }
  core::deallocate(room.host);
  return status;
}

}  // namespace

int32_t run_copy(const Context& context, const gth_tensor_desc& source, const gth_tensor_desc& destination,
                 const Error& error) {
  Plan plan;
  if (int32_t status = lower_and_check(context, source, destination, &plan, error)) return status;
  const core::Pointers pointers = core::pointers_of(source.data, nullptr, destination.data);
  const bool is_paged = is_pageable(source) || is_pageable(destination);
  if (!context.cuda || plan.is_empty || (!is_paged && !is_contiguous_copy(plan))) {
    return execute_once(context, plan, pointers, Output::callers, error);
  }
  // The host accesses pageable memory during the call. A captured graph would not repeat that.
  if (is_paged) {
    if (int32_t status = cuda::check_not_capturing(*context.cuda, error)) return status;
  }
  if (is_contiguous_copy(plan)) {
    return cuda::copy_bytes(*context.cuda, pointers.rows + plan.offset.rows, pointers.table + plan.offset.table,
                            plan.row.out, error);
  }
  if (is_pageable(source) && is_pageable(destination)) return copy_on_host(context, source, destination, error);
  return copy_staged(context, source, destination, plan.slices.factor * plan.inner * plan.row.out, error);
}

int32_t copy_dense(const Context& context, const gth_tensor_desc& source, gth_tensor_desc* desc, Storage** storage,
                   const Error& error) {
  *desc = source;
  desc->strides = nullptr;
  desc->offset = 0;
  desc->extent = count_bytes(source);
  desc->flags = 0;
  desc->device = context.device;
  desc->device_id = context.device_id;
  char* data;
  if (int32_t status = allocate_storage(context, desc->extent, false, &data, storage, error)) return status;
  desc->data = data;
  const int32_t status = run_copy(context, source, *desc, error);
  if (status) (*storage)->release();
  return status;
}

}  // namespace gather::execution
