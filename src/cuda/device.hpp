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

// Makes a device current for as long as it lives.
class Current {
 public:
  explicit Current(runtime::Device device) : code_(runtime::enter(device, &entered_)) {}
  ~Current() {
    if (!code_) runtime::leave(entered_);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  // Why not, as CUDA's number; 0: it is.
  int code() const { return code_; }

 private:
  bool entered_ = false;
  int code_;
};

// What the contexts of a CUDA device share, from the first one on until the library is shut down: its kernels, a pool of
// memory, and a stream of the library's own, on which is ended what was made with contexts that have gone. Nothing here
// waits for the device as a whole, which would stop every stream and end every capture on it.
class Device : public core::Allocated {
 public:
  static int32_t find(int32_t id, Device** out, const core::Error& error);
  // Lets the devices go that no context nor what was made with one still needs. Not beside other calls.
  static void release_idle();

  runtime::Device handle() const { return handle_; }
  int32_t id() const { return id_; }
  int32_t multiprocessors() const { return multiprocessors_; }
  const Capacity& capacity() const { return capacity_; }
  bool is_alone() const { return is_alone_; }  // the only one of the machine
  bool reads_pageable() const { return reads_pageable_; }

  // Every queue keeps its device; those of contexts that live are open.
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() { references_.fetch_sub(1, std::memory_order_release); }
  void open(Queue* queue);
  void close(Queue* queue);

  // Each of these wants the device to be current.
  int allocate(void** memory, int64_t bytes, runtime::Stream stream);
  int allocate_zeroed(void** memory, int64_t bytes);  // waits, and touches no stream of the caller's
  int deallocate(void* memory, runtime::Stream stream);
  // The same for what was made with a context that has gone: after what the streams of contexts that are not idle have
  // been given so far.
  void deallocate(void* memory);
  void retire(Retired* retired);
  // The same from where CUDA must not be used: it ends in a later call.
  void retire_later(Retired* retired) { waiting_.push(retired); }
  // Ends that wait for the legacy stream, which cannot be used yet.
  void take_over(Waiting* waiting);
  // Gives back memory that no stream uses.
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

// Memory that cannot be given back at once: it is a Retired whose end gives it back. False: it is lost, there is no
// memory to remember it in.
bool retire_memory(Device* device, void* memory, Waiting* waiting);

}  // namespace gather::cuda
