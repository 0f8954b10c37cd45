#include "execution/storage.hpp"

#include <cstring>
#include <new>

#include "core/os/os.hpp"
#include "core/types/device.hpp"

namespace gather::execution {
namespace {

// The size of a cache line. Other libraries align to it too. No kernel depends on it.
constexpr int64_t alignment = 64;

class HeapStorage final : public Storage {
 public:
  explicit HeapStorage(void* memory) : memory_(memory) {}

 private:
  ~HeapStorage() override { core::deallocate(memory_); }

  void* memory_;
};

// Device memory that the library allocates.
class DeviceStorage final : public Storage, private cuda::Retired {
 public:
  explicit DeviceStorage(cuda::Queue* queue) : queue_(queue) {
    queue_->retain();
    finish = [](Retired* self) { delete static_cast<DeviceStorage*>(self); };
  }

  int32_t allocate(cuda::Context& context, int64_t bytes, const Error& error) {
    return cuda::allocate(context, bytes, &device_memory, error);
  }
  char* data() const { return static_cast<char*>(device_memory); }

 private:
  ~DeviceStorage() override { queue_->release(); }

  void destroy() override {
    if (device_memory)
      queue_->retire(this);
    else
      delete this;
  }

  cuda::Queue* queue_;
};

class HookStorage final : public Storage {
 public:
  HookStorage(const Context& context, int64_t bytes)
      : hooks_(context.memory),
        bytes_(bytes),
        device_(context.device),
        device_id_(context.device_id),
        stream_(context.stream) {}

  // Returns nullptr if the hook returns nullptr or throws, which it must not.
  char* allocate() {
    const core::Uncancelled uncancelled;
    try {
      memory_ = hooks_.alloc(hooks_.user, bytes_, alignment, device_, device_id_, stream_);
    } catch (...) {
      memory_ = nullptr;
    }
    return static_cast<char*>(memory_);
  }

 private:
  ~HookStorage() override {
    if (!memory_) return;
    const core::Uncancelled uncancelled;
    hooks_.free(hooks_.user, bytes_, alignment, device_, device_id_, stream_, memory_);
  }

  MemoryHooks hooks_;
  int64_t bytes_;
  int32_t device_, device_id_;
  CUstream_st* stream_;
  void* memory_ = nullptr;
};

int32_t allocate_from_hook(const Context& context, int64_t bytes, bool zeroed, char** data, Storage** out,
                           const Error& error) {
  HookStorage* storage = new (std::nothrow) HookStorage(context, bytes);
  if (!storage) return fail_memory(bytes, error);
  *data = storage->allocate();
  if (!*data) {
    storage->release();
    return fail_memory(bytes, error);
  }
  int32_t status = GTH_OK;
  if (zeroed && context.cuda)
    status = cuda::zero(*context.cuda, *data, bytes, error);
  else if (zeroed)
    std::memset(*data, 0, static_cast<size_t>(bytes));
  if (status)
    storage->release();
  else
    *out = storage;
  return status;
}

int32_t allocate_on_device(const Context& context, int64_t bytes, bool zeroed, char** data, Storage** out,
                           const Error& error) {
  DeviceStorage* storage = new (std::nothrow) DeviceStorage(cuda::queue_of(*context.cuda));
  if (!storage) return fail_memory(sizeof(DeviceStorage), error);
  int32_t status = storage->allocate(*context.cuda, bytes, error);
  if (!status && zeroed) status = cuda::zero(*context.cuda, storage->data(), bytes, error);
  if (status) {
    storage->release();
    return status;
  }
  *data = storage->data();
  *out = storage;
  return GTH_OK;
}

int32_t allocate_from_heap(int64_t bytes, bool zeroed, char** data, Storage** out, const Error& error) {
  const size_t padded = static_cast<size_t>(bytes) + (bytes ? alignment : 0);
  void* memory = zeroed ? core::allocate_zeroed(padded) : core::allocate(padded);
  HeapStorage* storage = memory ? new (std::nothrow) HeapStorage(memory) : nullptr;
  if (!storage) {
    core::deallocate(memory);
    return fail_memory(bytes, error);
  }
  const uintptr_t address = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t aligned = (address + alignment - 1) / alignment * alignment;
  *data = bytes ? static_cast<char*>(memory) + (aligned - address) : nullptr;
  core::advise_huge_pages(*data, bytes);
  *out = storage;
  return GTH_OK;
}

}  // namespace

int32_t allocate_storage(const Context& context, int64_t bytes, bool zeroed, char** data, Storage** out,
                         const Error& error) {
  if (context.cuda) {
    if (int32_t status = cuda::check_not_capturing(*context.cuda, error)) return status;
  }
  if (bytes > 0 && context.memory.alloc) return allocate_from_hook(context, bytes, zeroed, data, out, error);
  if (bytes > 0 && context.cuda) return allocate_on_device(context, bytes, zeroed, data, out, error);
  return allocate_from_heap(bytes, zeroed, data, out, error);
}

AdoptedStorage* adopt_memory(const Context& context, int32_t device, gth_deleter_fn deleter, void* user) {
  // A stream also accesses pinned memory.
  cuda::Queue* queue = context.cuda && !core::is_pageable(device) ? cuda::queue_of(*context.cuda) : nullptr;
  return new (std::nothrow) AdoptedStorage(deleter, user, queue);
}

}  // namespace gather::execution
