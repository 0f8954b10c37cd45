#include "cuda/device.hpp"

#include <cstddef>
#include <mutex>
#include <new>

#include "cuda/failure.hpp"
#include "cuda/fork.hpp"
#include "cuda/queue.hpp"
#include "cuda/streams.hpp"

namespace gather::cuda {
namespace {

using core::Error;

using Guard = std::lock_guard<core::Mutex>;

// The pool keeps 1/32 of the device memory for the next outputs. Otherwise each wait for a stream would return the
// memory, and the next call would map it again.
constexpr int64_t kept_part = 32;

core::Mutex making;
Device* all_devices = nullptr;  // guarded by `making`

}  // namespace

int32_t Device::find(int32_t id, Device** out, const Error& error) {
  const Guard guard(making);
  Device* device = all_devices;
  while (device && device->id_ != id) device = device->next_;
  if (!device) {
    device = new (std::nothrow) Device(id);
    if (!device) return error.fail({GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, sizeof(Device), 0}, "out of memory");
    if (const int32_t status = device->set_up(error)) {
      device->tear_down();
      delete device;
      return status;
    }
    device->next_ = all_devices;
    all_devices = device;
  }
  *out = device;
  return GTH_OK;
}

void Device::release_idle() {
  if (is_forked()) return;
  const Guard guard(making);
  for (Device** at = &all_devices; *at;) {
    Device* device = *at;
    {
      const Current current(device->handle_);
      device->drain();
    }
    if (device->references_.load(std::memory_order_acquire) > 0 || device->waiting_.any()) {
      at = &device->next_;
      continue;
    }
    *at = device->next_;
    device->tear_down();
    delete device;
  }
}

int32_t Device::set_up(const Error& error) {
  if (const int code = runtime::open_device(id_, &handle_)) return fail_cuda(code, "context", 0, error);
  const Current current(handle_);
  runtime::DeviceFacts facts{};
  int code = current.code();
  if (!code) code = runtime::device_facts(id_, &facts);
  int32_t count = 0;
  if (!code) code = runtime::device_count(&count);
  if (!code) code = runtime::make_stream(&stream_);
  if (!code) code = runtime::make_pool(id_, facts.memory / kept_part, &pool_);
  if (code) return fail_cuda(code, "context", 0, error);
  multiprocessors_ = facts.multiprocessors;
  is_alone_ = count == 1;
  reads_pageable_ = facts.reads_pageable;
  code = load_kernels(&capacity_);
  if (runtime::means_no_kernels(code)) {
    return fail_no_device(offsetof(gth_context_options, device_id), id_, 0,
                          "this build has no kernels for the device's compute capability", error);
  }
  return code ? fail_cuda(code, "context: kernels", 0, error) : GTH_OK;
}

void Device::tear_down() {
  if (!handle_) return;  // the device could not be opened
  const Current current(handle_);
  if (pool_) runtime::destroy_pool(pool_);
  if (stream_) runtime::destroy_stream(stream_);
}

void Device::open(Queue* queue) {
  const Guard guard(lock_);
  queue->next_ = open_;
  open_ = queue;
}

void Device::close(Queue* queue) {
  const Guard guard(lock_);
  Queue** at = &open_;
  while (*at && *at != queue) at = &(*at)->next_;
  if (*at) *at = queue->next_;
}

int Device::allocate(void** memory, int64_t bytes, runtime::Stream stream) {
  return runtime::allocate_async(memory, bytes, pool_, stream);
}

int Device::allocate_zeroed(void** memory, int64_t bytes) {
  int code = allocate(memory, bytes, stream_);
  if (code) return code;
  code = runtime::zero_async(*memory, bytes, stream_);
  if (!code) code = runtime::synchronize(stream_);
  return code;
}

int Device::deallocate(void* memory, runtime::Stream stream) {
  return runtime::deallocate_async(memory, pool_, stream);
}

void Device::deallocate_unused(void* memory) {
  if (deallocate(memory, stream_)) retire_memory(this, memory, &waiting_);
}

// Makes the library's stream wait for the streams of all contexts. Returns false if one of them is being captured.
bool Device::follow_contexts() {
  const Guard guard(lock_);
  if (follows_legacy_) {
    if (follow_uncaptured(stream_, legacy_stream())) return false;
    follows_legacy_ = false;
  }
  for (Queue* queue = open_; queue; queue = queue->next_) {
    if (!queue->is_idle() && !queue->order_before(stream_)) return false;
  }
  return true;
}

void Device::take_over(Waiting* waiting) {
  {
    const Guard guard(lock_);
    follows_legacy_ = true;
  }
  waiting->move_to(&waiting_);
}

void Device::deallocate(void* memory) {
  if (follow_contexts() && deallocate(memory, stream_) == 0) return;
  retire_memory(this, memory, &waiting_);
}

void Device::retire(Retired* retired) {
  waiting_.push(retired);
  end_passed();
}

bool Device::has_no_context() {
  const Guard guard(lock_);
  return !open_;
}

// Without a context there may be no later call that runs the remaining releases. The last context may also be closed
// while another thread is in this function.
void Device::end_passed() {
  const auto end = [this] {
    waiting_.end_passed(handle_, [this](void** event) { return follow_contexts() && mark(stream_, event) == 0; });
  };
  end();
  if (!waiting_.any() || !has_no_context()) return;
  runtime::synchronize(stream_);
  end();
}

namespace {

struct RetiredMemory : Retired, core::Allocated {
  Device* device;
  void* memory;
};

void end_memory(Retired* self) {
  auto* retired = static_cast<RetiredMemory*>(self);
  retired->device->deallocate(retired->memory);
  delete retired;
}

}  // namespace

bool retire_memory(Device* device, void* memory, Waiting* waiting) {
  auto* retired = new (std::nothrow) RetiredMemory;
  if (!retired) return false;
  retired->device = device;
  retired->memory = memory;
  retired->finish = end_memory;
  waiting->push(retired);
  return true;
}

}  // namespace gather::cuda
