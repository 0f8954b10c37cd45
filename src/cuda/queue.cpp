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
  bool is_lost() const { return failed_; }

 private:
  bool entered_ = false;
  bool failed_;
};

// Puts a mark behind what the stream has been given. False: the stream is being captured.
bool mark(Retired* retired, CUstream_st* stream) {
  bool capturing = false;
  if (runtime::is_capturing(stream, &capturing) || capturing) return false;
  if (runtime::create_event(stream, &retired->event)) {
    retired->event = nullptr;
    return false;
  }
  if (runtime::record_event(retired->event, stream) == 0) return true;
  runtime::destroy_event(retired->event);
  retired->event = nullptr;
  return false;
}

// True too where the question cannot be answered: the device is lost, and nothing uses its memory any more. But not
// where a capture forbids the answer.
bool has_passed(const Retired* retired) {
  if (!retired->event) return false;
  bool passed = false;
  const int code = runtime::query_event(retired->event, &passed);
  return code ? !runtime::means_capture(code) : passed;
}

// For its mark, or for the device where it has none. False: a capture forbids it.
bool wait_for(const Retired* retired) {
  if (retired->event && !runtime::means_capture(runtime::synchronize_event(retired->event))) return true;
  return !runtime::means_capture(runtime::synchronize_device());
}

}  // namespace

void Queue::push(Retired* retired) {
  retired->next = nullptr;
  const std::lock_guard<core::Lock> guard(lock_);
  (last_ ? last_->next : first_) = retired;
  last_ = retired;
  waiting_.fetch_add(1, std::memory_order_relaxed);
}

Retired* Queue::take_all() {
  const std::lock_guard<core::Lock> guard(lock_);
  Retired* all = first_;
  first_ = last_ = nullptr;
  waiting_.store(0, std::memory_order_relaxed);
  return all;
}

void Queue::end(Retired* retired) {
  if (retired->event) runtime::destroy_event(retired->event);
  retired->event = nullptr;
  const runtime::Apart apart = runtime::set_apart(device_);
  retired->finish(retired);
  runtime::rejoin(apart);
}

void Queue::retire(Retired* retired) {
  if (is_forked()) return;  // the parent's, and its CUDA cannot be used here
  retain();                 // what ends may hold the last reference but this
  {
    const Current current(device_);
    bool was_open;
    {
      const StreamUse use(this);
      was_open = use.is_open();
      if (was_open && !current.is_lost()) mark(retired, stream_);
      push(retired);
    }
    if (!was_open) end_all(current.is_lost());
  }
  release();
}

void Queue::end_passed() {
  // Its ends may do what must not be captured, and their marks could not be asked for.
  bool capturing = false;
  if (runtime::is_capturing(stream_, &capturing) == 0 && capturing) return;
  Retired* retired = take_all();
  while (retired) {
    Retired* next = retired->next;
    if (has_passed(retired)) {
      end(retired);
    } else {
      if (!retired->event) mark(retired, stream_);
      push(retired);
    }
    retired = next;
  }
}

// Waits, and waits on with what cannot be waited for because a stream of the device is being captured.
void Queue::end_all(bool is_lost) {
  Retired* retired = take_all();
  while (retired) {
    Retired* next = retired->next;
    is_lost || wait_for(retired) ? end(retired) : push(retired);
    retired = next;
  }
}

void Queue::close() {
  open_.store(false);
  while (uses_.load() > 0) core::nap();
  const Current current(device_);
  if (!current.is_lost()) runtime::synchronize_device();
  end_all(current.is_lost());
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

bool Queue::deallocate_in_order(void* memory, bool* capturing) {
  const StreamUse use(this);
  if (!use.is_open() || runtime::is_capturing(stream_, capturing) || *capturing) return false;
  return runtime::deallocate_async(memory, stream_) == 0;
}

void Queue::deallocate(void* memory) {
  if (is_forked()) return;
  const Current current(device_);
  bool capturing = false;
  if (deallocate_in_order(memory, &capturing)) return;
  // Memory that was allocated in stream order is freed without a look at who uses it.
  if (!capturing) capturing = runtime::means_capture(runtime::synchronize_device());
  if (!capturing) {
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
