#pragma once

#include <atomic>
#include <cstdint>

#include "core/os/memory.hpp"
#include "cuda/waiting.hpp"

struct CUstream_st;

namespace gather::cuda {

class Device;

// The ends that wait for a context's stream. Outlives the context while something that was made with it lives. No end
// runs in a callback of CUDA's: they run in later calls of the context, or of its device where the context has gone.
class Queue : public core::Allocated {
 public:
  // The thread that makes it is the one whose stream it is, if the stream is that per thread.
  Queue(Device* device, CUstream_st* stream);

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Around everything that gives the stream work.
  void begin_work() { begun_.fetch_add(1); }
  void end_work() { ended_.fetch_add(1); }
  // Whether the stream has been waited for since it was last given work. Its owner may have destroyed it then.
  bool is_idle() const { return !waiting_.any() && begun_.load() == waited_for_.load(); }

  // Ends it after what the stream has been given so far. Asks nothing of CUDA while the context lives.
  void retire(Retired* retired);
  // Gives device memory back in stream order.
  void deallocate(void* memory);
  // Ends what the stream has passed. The device is current.
  void drain() {
    if (waiting_.any()) end_passed();
  }
  // Waits for the stream, and ends what waited for it. CUDA's number of the error.
  int synchronize();
  // What had ended before a wait for the stream began has been waited for.
  int64_t ended_work() const { return ended_.load(); }
  void note_wait(int64_t ended) { waited_for_.store(ended); }
  // The context goes, and its stream may go after it: waits for what the stream has been given. False: it is being
  // captured, which forbids that; what waits then waits for ever, but for the legacy stream, which is always there.
  bool close();

  // The stream as the calling thread names it: the stream per thread of another thread has no name here. The legacy
  // stream is given instead, which comes after what the stream per thread has been given and before what it will be
  // given.
  CUstream_st* stream_here() const;

  // Makes `later` wait for what the stream has been given. False: it cannot be said, because of a capture.
  bool order_before(CUstream_st* later);

 private:
  friend class Device;
  ~Queue();

  // While one lives that is_open(), so does the stream.
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
  uint64_t stream_id_ = 0;  // of the stream per thread
  std::atomic<int64_t> references_{1};
  std::atomic<bool> open_{true};
  std::atomic<int64_t> uses_{0};
  std::atomic<int64_t> begun_{0}, ended_{0};  // work
  std::atomic<int64_t> waited_for_{-1};       // so many had ended before the last wait; -1: there was none
  Waiting waiting_;
  Queue* next_ = nullptr;  // of its device's open ones
};

}  // namespace gather::cuda
