#include "cuda/device_state.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>

#include "cuda/bag_kernels.hpp"
#include "cuda/bag_step_kernels.hpp"
#include "cuda/failure.hpp"
#include "cuda/fork.hpp"
#include "cuda/partition_kernels.hpp"
#include "cuda/queue.hpp"
#include "cuda/scatter_kernels.hpp"
#include "cuda/sort.hpp"
#include "cuda/streams.hpp"

namespace gather::cuda {
namespace {

using core::Error;

using Guard = std::lock_guard<core::Mutex>;

// The pool keeps 1/32 of the device memory for the next outputs. Otherwise each wait for a stream would return the
// memory, and the next call would map it again.
constexpr int64_t kept_part = 32;

int load_all_kernels(Capacity* capacity, runtime::Stream stream) {
  const runtime::Uncaptured uncaptured;
  int code = load_kernels(capacity);
  if (!code) code = load_scatter_kernels();
  if (!code) code = load_bag_kernels();
  if (!code) code = load_bag_steps();
  if (!code) code = load_partition_kernels();
  return code ? code : load_sort(stream);
}

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
      device->of_legacy_.end_after(device, [] { return runtime::synchronize(legacy_stream()); });
      device->drain();
    }
    if (device->references_.load(std::memory_order_acquire) > 0 || device->unused_.any()) {
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
  code = load_all_kernels(&capacity_, stream_);
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
  queue->passed_ = newest();
  queue->next_ = open_;
  open_ = queue;
}

void Device::close(Queue* queue) {
  const Guard guard(lock_);
  Queue** at = &open_;
  while (*at && *at != queue) at = &(*at)->next_;
  if (*at) *at = queue->next_;
}

void Device::pass(Queue* queue, int64_t until) {
  const Guard guard(lock_);
  if (queue->passed_ < until) queue->passed_ = until;
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

namespace {

struct UnusedMemory : Retired, core::Allocated {};

}  // namespace

// The memory is leaked if there is no memory for the entry.
void Device::deallocate_unused(void* memory) {
  if (!deallocate(memory, stream_)) return;
  auto* unused = new (std::nothrow) UnusedMemory;
  if (!unused) return;
  unused->device_memory = memory;
  unused->finish = [](Retired* self) { delete static_cast<UnusedMemory*>(self); };
  unused_.push(unused);
}

// Functions of the caller may change the current device and may use functions that cannot be captured.
void Device::finish(Retired* retired) {
  if (retired->device_memory && deallocate(retired->device_memory, stream_)) {
    unused_.push(retired);
    return;
  }
  const runtime::Apart apart = runtime::set_apart(handle_);
  retired->finish(retired);
  runtime::rejoin(apart);
}

void Device::retire(Retired* retired) {
  {
    const Guard guard(lock_);
    retired->next = nullptr;
    retired->number = newest() + 1;
    (first_ ? last_->next : first_) = retired;
    last_ = retired;
    newest_ = retired->number;
  }
  drain();
}

// An idle queue has passed all releases, because its work is complete.
int64_t Device::passed_by_all() {
  int64_t result = newest();
  for (Queue* queue = open_; queue; queue = queue->next_) {
    if (queue->is_idle()) queue->passed_ = newest();
    result = std::min<int64_t>(result, queue->passed_);
  }
  return result;
}

// Returns the next release that all queues have passed, or nullptr.
Retired* Device::take_passed() {
  const Guard guard(lock_);
  Retired* const result = first_;
  if (!result || result->number > passed_by_all()) return nullptr;
  first_ = result->next;
  finished_ = result->number;
  return result;
}

// A stream that is ordered with the legacy stream may be captured. The legacy stream then cannot be used.
void Device::end_passed() {
  unused_.take_each([this](Retired* retired) { finish(retired); });
  if (of_legacy_.any() && !is_captured(legacy_stream()))
    of_legacy_.end_passed(this, [](void** event) { return mark(legacy_stream(), event) == 0; });
  while (Retired* passed = take_passed()) finish(passed);
}

}  // namespace gather::cuda
