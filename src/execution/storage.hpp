#pragma once

#include <atomic>
#include <cstdint>

#include "core/os/memory.hpp"
#include "core/os/os.hpp"
#include "execution/context.hpp"

namespace gather::execution {

// A memory block that the library has to release. The handle and each export hold one reference. The thread that
// releases the last reference frees the memory or calls its deleter.
class Storage : public core::Allocated {
 public:
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

 protected:
  virtual ~Storage() = default;
  virtual void destroy() { delete this; }

 private:
  std::atomic<int64_t> references_{1};
};

// Memory of a caller or of another library, with its deleter. For device memory, the deleter runs after the stream of
// the context has finished the work that uses it.
class AdoptedStorage final : public Storage, private cuda::Retired {
 public:
  AdoptedStorage(gth_deleter_fn deleter, void* user, cuda::Queue* queue = nullptr)
      : deleter_(deleter), user_(user), queue_(queue) {
    if (queue_) queue_->retain();
  }
  // Leaves the memory to the caller, because the call that should take ownership fails.
  void cancel_release() { deleter_ = nullptr; }

 private:
  ~AdoptedStorage() override {
    if (deleter_) call_deleter();
    if (queue_) queue_->release();
  }

  void call_deleter() {
    const core::Uncancelled uncancelled;
    deleter_(user_);
  }

  void destroy() override {
    if (!queue_ || !deleter_) {
      delete this;
      return;
    }
    finish = [](Retired* self) { delete static_cast<AdoptedStorage*>(self); };
    queue_->retire(this);
  }

  gth_deleter_fn deleter_;
  void* user_;
  cuda::Queue* queue_;
};

// Creates the storage of a caller's memory. Returns nullptr if there is no memory.
AdoptedStorage* adopt_memory(const Context& context, int32_t device, gth_deleter_fn deleter, void* user);

// Allocates memory on the context's device, with its hooks or the allocator of the library. The memory is zero if
// `zeroed` is true. *data is nullptr if bytes is 0. The caller releases the storage.
int32_t allocate_storage(const Context& context, int64_t bytes, bool zeroed, char** data, Storage** out,
                         const Error& error);

}  // namespace gather::execution
