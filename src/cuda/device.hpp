#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/os/memory.hpp"
#include "core/os/os.hpp"
#include "cuda/kernels.hpp"
#include "cuda/runtime.hpp"
#include "cuda/waiting.hpp"

namespace gather::cuda {

class Queue;

// Makes a device current during the lifetime of the object.
class Current {
 public:
  explicit Current(runtime::Device device) : code_(runtime::enter(device, &entered_)) {}
  ~Current() {
    if (!code_) runtime::leave(entered_);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  // Returns 0 if the device is current, otherwise CUDA's error number.
  int code() const { return code_; }

 private:
  bool entered_ = false;
  int code_;
};

// The state that all contexts of a CUDA device share, from the first context until the library is shut down. It has the
// kernels, a memory pool, and a stream of the library. On that stream, objects are released whose context has been
// closed. No function here waits for the whole device, because that would block every stream and invalidate every
// capture.
class Device : public core::Allocated {
 public:
  static int32_t find(int32_t id, Device** out, const core::Error& error);
  // Releases the devices that no context and no object of a context uses. Must not run at the same time as other calls.
  static void release_idle();

  runtime::Device handle() const { return handle_; }
  int32_t id() const { return id_; }
  int32_t multiprocessors() const { return multiprocessors_; }
  const Capacity& capacity() const { return capacity_; }
  bool is_alone() const { return is_alone_; }  // true if the machine has no other device
  bool reads_pageable() const { return reads_pageable_; }

  // Every queue holds a reference to its device. The queues of existing contexts are open.
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() { references_.fetch_sub(1, std::memory_order_release); }
  void open(Queue* queue);
  void close(Queue* queue);

  // Precondition of these functions: the device is current.
  int allocate(void** memory, int64_t bytes, runtime::Stream stream);
  int allocate_zeroed(void** memory, int64_t bytes);  // waits, and uses no stream of the caller
  int deallocate(void* memory, runtime::Stream stream);
  // Release objects of a context that has been closed. The release runs after all work that is now enqueued on the
  // streams of the device's contexts. Idle contexts have no such work.
  void deallocate(void* memory);
  void retire(Retired* retired);
  // Like retire, for threads that must not use CUDA. A later call runs the release.
  void retire_later(Retired* retired) { waiting_.push(retired); }
  // Takes over deferred releases that wait for the legacy stream. It is called when that stream cannot be used.
  void take_over(Waiting* waiting);
  // Frees memory that no stream uses.
  void deallocate_unused(void* memory);
  void drain() {
    if (waiting_.any()) end_passed();
  }

 private:
  explicit Device(int32_t id) : id_(id) {}
  ~Device() = default;

  int32_t set_up(const core::Error& error);
  void tear_down();
  bool follow_contexts();
  bool has_no_context();
  void end_passed();

  int32_t id_;
  int32_t multiprocessors_ = 0;
  Capacity capacity_{};
  bool is_alone_ = false;
  bool reads_pageable_ = false;
  runtime::Device handle_ = nullptr;
  runtime::Stream stream_ = nullptr;
  runtime::Pool pool_ = nullptr;
  std::atomic<int64_t> references_{0};
  Waiting waiting_;
  core::Mutex lock_;  // guards the open queues
  Queue* open_ = nullptr;
  bool follows_legacy_ = false;
  Device* next_ = nullptr;
};

// Defers freeing of memory that cannot be freed at once. Returns false if there is no memory for the entry. The device
// memory is then leaked.
bool retire_memory(Device* device, void* memory, Waiting* waiting);

}  // namespace gather::cuda
