#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/os/memory.hpp"
#include "core/os/os.hpp"
#include "cuda/gather_kernels.hpp"
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
// kernels, a memory pool, and a stream of the library, on which any thread may make calls. No function here waits for
// the whole device, because that would block every stream and invalidate every capture.
//
// Releases of closed contexts have consecutive numbers. A release runs when each open queue has passed its number. A
// queue has passed a number when the work that its stream had at the time of that release is complete. A call of the
// queue's context tests this.
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
  // Frees memory that no stream uses.
  void deallocate_unused(void* memory);
  // Runs a release of a closed context after all work that the contexts of the device have enqueued. Idle contexts have
  // no such work.
  void retire(Retired* retired);
  // Runs a release that waits for nothing in a later call. For threads that must not use CUDA.
  void retire_unused(Retired* retired) { unused_.push(retired); }
  // Takes over deferred releases that wait for the legacy stream. It is called when that stream cannot be used.
  void take_over(Waiting* waiting) { waiting->move_to(&of_legacy_); }
  // Frees the memory of a release and runs it.
  void finish(Retired* retired);
  void drain() {
    if (unused_.any() || of_legacy_.any() || has_retired()) end_passed();
  }

  // Returns the number of the newest release.
  int64_t newest() const { return newest_.load(std::memory_order_acquire); }
  // States that all releases up to the number have passed the stream of the queue.
  void pass(Queue* queue, int64_t until);

 private:
  explicit Device(int32_t id) : id_(id) {}
  ~Device() = default;

  int32_t set_up(const core::Error& error);
  void tear_down();
  bool has_retired() const { return newest() > finished_.load(std::memory_order_relaxed); }
  int64_t passed_by_all();
  Retired* take_passed();
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
  Waiting unused_;
  Waiting of_legacy_;
  core::Mutex lock_;  // guards the open queues and the releases of closed contexts
  Queue* open_ = nullptr;
  Retired* first_ = nullptr;
  Retired* last_ = nullptr;
  std::atomic<int64_t> newest_{0}, finished_{0};
  Device* next_ = nullptr;
};

}  // namespace gather::cuda
