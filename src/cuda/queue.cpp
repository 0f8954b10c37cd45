#include "cuda/queue.hpp"

#include <mutex>

#include "core/os/os.hpp"
#include "cuda/device_state.hpp"
#include "cuda/fork.hpp"
#include "cuda/streams.hpp"

namespace gather::cuda {
namespace {

using Guard = std::lock_guard<core::Lock>;

}  // namespace

Queue::Queue(Device* device, CUstream_st* stream) : device_(device), stream_(stream) {
  device_->retain();
  if (is_per_thread(stream) && runtime::stream_id(stream, &stream_id_)) stream_id_ = 0;
  passage_.queue = this;
  passage_.finish = end_passage;
}

Queue::~Queue() { device_->release(); }

CUstream_st* Queue::stream_here() const {
  if (!is_per_thread(stream_)) return stream_;
  uint64_t id = 0;
  return runtime::stream_id(stream_, &id) == 0 && id == stream_id_ ? stream_ : legacy_stream();
}

void Queue::retire(Retired* retired) {
  if (is_forked()) return;  // the queue belongs to the parent, and CUDA cannot be used here
  retain();                 // a release may drop the last reference to this queue
  bool was_open;
  {
    const Guard guard(lock_);
    was_open = is_open_;
    if (was_open) (retired->device_memory ? freed_ : waiting_).push(retired);
  }
  if (!was_open) {
    const Current current(device_->handle());
    device_->retire(retired);
  }
  release();
}

void Queue::begin_call() {
  if (device_->newest() > passed_.load(std::memory_order_relaxed)) pass_retired();
  drain();
}

void Queue::pass_retired() {
  if (passage_.is_waiting.exchange(true)) return;
  retain();
  passage_.until = device_->newest();
  waiting_.push(&passage_);
}

// A closed queue stays in the device while its work on the legacy stream cannot be waited for.
void Queue::end_passage(Retired* self) {
  auto* passage = static_cast<Passage*>(self);
  Queue* const queue = passage->queue;
  queue->device_->pass(queue, passage->until);
  if (!queue->is_open_) queue->device_->close(queue);
  passage->is_waiting.store(false);
  queue->release();
}

// Does nothing while the stream is being captured. The releases may use functions that cannot be captured, and no event
// can be recorded.
void Queue::end_passed() {
  CUstream_st* const stream = stream_here();
  if (is_captured(stream)) return;
  freed_.take_each([&](Retired* retired) {
    if (device_->deallocate(retired->device_memory, stream))
      waiting_.push(retired);
    else
      retired->finish(retired);
  });
  waiting_.end_passed(device_, [stream](void** event) { return mark(stream, event) == 0; });
}

int Queue::synchronize() {
  const int64_t ended = ended_work();
  const int code = waiting_.end_after(device_, [this] { return runtime::synchronize(stream_here()); });
  if (!code) note_wait(ended);
  return code;
}

// The device waits for the stream until the queue is removed. So releases that other threads add meanwhile run after
// the work of the stream.
bool Queue::close() {
  {
    const Guard guard(lock_);
    is_open_ = false;
  }
  freed_.move_to(&waiting_);
  CUstream_st* const stream = stream_here();
  const bool has_ended = (is_idle() && !waiting_.any()) || (!is_captured(stream) && end_all(stream));
  if (!has_ended && is_legacy(stream)) {
    pass_retired();
    device_->take_over(&waiting_);
  } else {
    device_->close(this);
  }
  return has_ended;
}

// The first wait may return an earlier failure. If the second one fails too, the device is lost and uses no memory.
bool Queue::end_all(CUstream_st* stream) {
  return !runtime::means_capture(waiting_.end_after(device_, [stream] {
    const int code = runtime::synchronize(stream);
    return code ? runtime::synchronize(stream) : code;
  }));
}

}  // namespace gather::cuda
