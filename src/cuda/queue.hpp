#pragma once

#include <atomic>
#include <cstdint>

#include "core/os/memory.hpp"
#include "cuda/waiting.hpp"

struct CUstream_st;

namespace gather::cuda {

class Device;

// The deferred releases of a context's stream. A queue exists as long as the context or an object made with it. No
// release runs in a CUDA callback. Releases run in later calls of the context, or of its device after the context is
// closed.
class Queue : public core::Allocated {
 public:
  // If the stream is the per-thread stream, it is that of the thread that runs this constructor.
  Queue(Device* device, CUstream_st* stream);

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Called around everything that enqueues work on the stream.
  void begin_work() { begun_.fetch_add(1); }
  void end_work() { ended_.fetch_add(1); }
  // Returns true if the stream was waited for after its last work. Its owner may have destroyed it since.
  bool is_idle() const { return !waiting_.any() && begun_.load() == waited_for_.load(); }

  // Runs the release after the work that is now enqueued on the stream. It makes no CUDA call while the context exists.
  void retire(Retired* retired);
  // Frees device memory in stream order.
  void deallocate(void* memory);
  // Runs the releases that the stream has reached. Precondition: the device is current.
  void drain() {
    if (waiting_.any()) end_passed();
  }
  // Waits for the stream, runs the waiting releases, and returns CUDA's error number.
  int synchronize();
  // Returns the number of ended calls. Their work is complete after the next wait for the stream.
  int64_t ended_work() const { return ended_.load(); }
  void note_wait(int64_t ended) { waited_for_.store(ended); }
  // Called when the context is closed, because its stream may be destroyed afterwards. Waits for the work of the
  // stream. Returns false if the stream is being captured, which forbids waiting. Releases that still wait are then
  // never run, except those of the legacy stream, which always exists.
  bool close();

  // Returns the stream as the calling thread refers to it. The per-thread stream of another thread has no handle on
  // this thread. The legacy stream is returned instead. It is ordered after the earlier work of the per-thread stream
  // and before its later work.
  CUstream_st* stream_here() const;

  // Makes `later` wait for the work that is enqueued on the stream. Returns false if a capture prevents that.
  bool order_before(CUstream_st* later) const;

 private:
  friend class Device;
  ~Queue();

  // While an object exists for which is_open() is true, the stream exists.
  class StreamUse {
   public:
    explicit StreamUse(Queue* queue) : queue_(queue) { queue_->uses_.fetch_add(1); }
    ~StreamUse() { queue_->uses_.fetch_sub(1); }
    StreamUse(const StreamUse&) = delete;
    StreamUse& operator=(const StreamUse&) = delete;
    bool is_open() const { return queue_->open_.load(); }

   private:
    Queue* queue_;
  };

  void end_passed();
  bool end_all();
  bool deallocate_in_order(void* memory, bool* is_open);

  Device* device_;
  CUstream_st* stream_;
  uint64_t stream_id_ = 0;  // of the per-thread stream
  std::atomic<int64_t> references_{1};
  std::atomic<bool> open_{true};
  std::atomic<int64_t> uses_{0};
  std::atomic<int64_t> begun_{0}, ended_{0};  // counts of work
  std::atomic<int64_t> waited_for_{-1};       // work that had ended before the last wait, or -1 before the first wait
  Waiting waiting_;
  Queue* next_ = nullptr;  // next open queue of the device
};

}  // namespace gather::cuda
