#pragma once

#include <atomic>
#include <cstdint>

#include "api/context.hpp"
#include "core/os/memory.hpp"
#include "core/os/os.hpp"

namespace gather::api {

// Memory that the library answers for. The handle and every export hold one reference; what ends the memory runs when
// the last one goes, on the thread that let go.
class Storage : public core::Allocated {
 public:
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) end();
  }

 protected:
  virtual ~Storage() = default;
  virtual void end() { delete this; }

 private:
  std::atomic<int64_t> references_{1};
};

// Memory of a caller or a foreign producer with the function that ends it; device memory ends when the stream of the
// context it was handed to has passed.
class AdoptedStorage final : public Storage, private cuda::Retired {
 public:
  AdoptedStorage(gth_deleter_fn deleter, void* user, cuda::Queue* queue = nullptr)
      : deleter_(deleter), user_(user), queue_(queue) {
    if (queue_) queue_->retain();
  }
  // Gives the memory back unended, because the call that would have taken it over fails.
  void disarm() { deleter_ = nullptr; }

 private:
  ~AdoptedStorage() override {
    if (deleter_) call_deleter();
    if (queue_) queue_->release();
  }

  void call_deleter() {
    const core::Uncancelled uncancelled;
    deleter_(user_);
  }

  void end() override {
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

// nullptr: no memory.
AdoptedStorage* adopt_memory(const Context& context, int32_t device, gth_deleter_fn deleter, void* user);

// New memory for `bytes` bytes on the context's device, from its hooks or the library's own; *data is nullptr where
// bytes is 0. Zeroed if asked for. The storage is the caller's to release.
int32_t allocate_storage(const Context& context, int64_t bytes, bool zeroed, char** data, Storage** out,
                         const Error& error);

}  // namespace gather::api
