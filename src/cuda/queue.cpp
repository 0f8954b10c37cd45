#include "cuda/queue.hpp"

#include <mutex>

#include "cuda/fork.hpp"
#include "cuda/runtime.hpp"

namespace gather::cuda {
namespace {

// Makes a device current for as long as it lives.
class Current {
 public:
  explicit Current(void* device) : failed_(runtime::enter(device, &entered_) != 0) {}
  ~Current() {
    if (!failed_) runtime::leave(entered_);
  }

 private:
  bool entered_ = false;
  bool failed_;
};

// Puts a mark behind what the stream has been given. False: the stream is being captured.
bool mark(Retired* retired, CUstream_st* stream) {
  bool capturing = false;
  if (runtime::is_capturing(stream, &capturing) || capturing) return false;
  if (runtime::create_event(&retired->event)) {
    retired->event = nullptr;
    return false;
  }
  if (runtime::record_event(retired->event, stream) == 0) return true;
  runtime::destroy_event(retired->event);
  retired->event = nullptr;
  return false;
}

void end(Retired* retired) {
  if (retired->event) runtime::destroy_event(retired->event);
  retired->event = nullptr;
  retired->finish(retired);
}

// True too where the question cannot be answered: the device is lost, and nothing uses its memory any more.
bool has_passed(const Retired* retired) {
  bool passed = false;
  return retired->event && (runtime::query_event(retired->event, &passed) != 0 || passed);
}

}  // namespace

void Queue::push(Retired* retired) {
  retired->next = nullptr;
  const std::lock_guard<core::SpinLock> guard(lock_);
  (last_ ? last_->next : first_) = retired;
  last_ = retired;
  waiting_.fetch_add(1, std::memory_order_relaxed);
}

Retired* Queue::take_all() {
  const std::lock_guard<core::SpinLock> guard(lock_);
  Retired* all = first_;
  first_ = last_ = nullptr;
  waiting_.store(0, std::memory_order_relaxed);
  return all;
}

void Queue::retire(Retired* retired) {
  if (is_forked()) return;  // the parent's, and its CUDA cannot be used here
  retain();  // what ends may hold the last reference but this
  {
    const Current current(device_);
    if (is_open()) mark(retired, stream_);
    push(retired);
    if (!is_open()) end_passed();
  }
  release();
}

void Queue::end_passed() {
  Retired* retired = take_all();
  while (retired) {
    Retired* next = retired->next;
    if (!is_open()) {
      runtime::synchronize_device();
      end(retired);
    } else if (has_passed(retired)) {
      end(retired);
    } else {
      if (!retired->event) mark(retired, stream_);
      push(retired);
    }
    retired = next;
  }
}

void Queue::close() {
  open_.store(false, std::memory_order_release);
  const Current current(device_);
  end_passed();
}

namespace {

// Device memory that cannot be given back in stream order at once.
struct RetiredMemory : Retired, core::Allocated {
  void* memory;
};

void end_memory(Retired* self) {
  auto* retired = static_cast<RetiredMemory*>(self);
  runtime::deallocate(retired->memory);
  delete retired;
}

}  // namespace

void Queue::deallocate(void* memory) {
  if (is_forked()) return;
  const Current current(device_);
  bool capturing = false;
  if (is_open() && runtime::is_capturing(stream_, &capturing) == 0 && !capturing) {
    if (runtime::deallocate_async(memory, stream_) == 0) return;
  }
  if (!capturing) {  // waits for the device
    runtime::deallocate(memory);
    return;
  }
  auto* retired = new (std::nothrow) RetiredMemory;
  if (!retired) return;  // neither memory nor a way to wait for it: it is lost
  retired->memory = memory;
  retired->finish = end_memory;
  retire(retired);
}

}  // namespace gather::cuda
