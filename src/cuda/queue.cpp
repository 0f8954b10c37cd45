#include "cuda/queue.hpp"

#include "core/os/os.hpp"
#include "cuda/device.hpp"
#include "cuda/fork.hpp"
#include "cuda/streams.hpp"

namespace gather::cuda {

Queue::Queue(Device* device, CUstream_st* stream) : device_(device), stream_(stream) {
  device_->retain();
  if (is_per_thread(stream) && runtime::stream_id(stream, &stream_id_)) stream_id_ = 0;
}

Queue::~Queue() { device_->release(); }

CUstream_st* Queue::stream_here() const {
  if (!is_per_thread(stream_)) return stream_;
  uint64_t id = 0;
  return runtime::stream_id(stream_, &id) == 0 && id == stream_id_ ? stream_ : legacy_stream();
}

void Queue::retire(Retired* retired) {
  if (is_forked()) return;  // the queue belongs to the parent, and CUDA cannot be used here
  retain();                 // the releases may hold the last other reference
  bool was_open;
  {
    const StreamUse use(this);
    was_open = use.is_open();
    if (was_open) waiting_.push(retired);
  }
  if (!was_open) {
    const Current current(device_->handle());
    device_->retire(retired);
  }
  release();
}

// Does nothing while the stream is being captured. The releases may use functions that cannot be captured, and no event
// can be recorded.
void Queue::end_passed() {
  CUstream_st* const stream = stream_here();
  if (is_captured(stream)) return;
  waiting_.end_passed(device_->handle(), [stream](void** event) { return mark_uncaptured(stream, event) == 0; });
}

int Queue::synchronize() {
  const int64_t ended = ended_work();
  const int code = waiting_.end_after(device_->handle(), [this] { return runtime::synchronize(stream_here()); });
  if (!code) note_wait(ended);
  return code;
}

// The device waits for the stream until the queue is removed. So releases that other threads add meanwhile run after
// the work of the stream.
bool Queue::close() {
  open_.store(false);
  while (uses_.load() > 0) core::nap();
  const Current current(device_->handle());
  const bool has_ended = end_all();
  device_->close(this);
  return has_ended;
}

bool Queue::end_all() {
  if (is_idle()) return true;
  CUstream_st* const stream = stream_here();
  if (is_captured(stream)) {
    if (is_legacy(stream)) device_->take_over(&waiting_);
    return false;
  }
  // The first wait may return an earlier failure. If the second one fails too, the device is lost and uses no memory.
  return !runtime::means_capture(waiting_.end_after(device_->handle(), [stream] {
    const int code = runtime::synchronize(stream);
    return code ? runtime::synchronize(stream) : code;
  }));
}

bool Queue::order_before(CUstream_st* later) const { return follow_uncaptured(later, stream_here()) == 0; }

bool Queue::deallocate_in_order(void* memory, bool* is_open) {
  const StreamUse use(this);
  *is_open = use.is_open();
  if (!*is_open) return false;
  begin_work();
  CUstream_st* const stream = stream_here();
  const bool is_in_order =
      is_captured(stream) ? retire_memory(device_, memory, &waiting_) : device_->deallocate(memory, stream) == 0;
  end_work();
  return is_in_order;
}

void Queue::deallocate(void* memory) {
  if (is_forked()) return;
  const Current current(device_->handle());
  bool is_open = false;
  if (!deallocate_in_order(memory, &is_open)) device_->deallocate(memory);
}

}  // namespace gather::cuda
