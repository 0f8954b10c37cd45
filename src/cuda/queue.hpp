#pragma once

#include <atomic>
#include <cstdint>

#include "core/os/memory.hpp"
#include "core/os/os.hpp"
#include "cuda/waiting.hpp"

struct CUstream_st;

namespace gather::cuda {

class Device;

// The deferred releases of a context's stream. A queue exists as long as the context or an object made with it.
//
// A stream may be captured at any moment. While a thread captures it, no other thread may make CUDA calls on it. So
// only calls of the context use its stream. retire(), which any thread may call, makes no CUDA call while the context
// exists. The next call of the context runs the release. No release runs in a CUDA callback.
class Queue : public core::Allocated {
 public:
  // If the stream is the per-thread stream, it is that of the thread that runs this constructor.
  Queue(Device* device, CUstream_st* stream);

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Defers a release until the work that is now enqueued on the stream is complete. Memory of the library is freed in
  // stream order. After the context is closed, the release waits for all contexts of the device.
  void retire(Retired* retired);

  // Each call calls begin_work() before it enqueues work on the stream, and end_work() afterwards.
  void begin_work() { begun_.fetch_add(1); }
  void end_work() { ended_.fetch_add(1); }
  // Returns true if no work was enqueued after the last wait for the stream. Then the stream must not be used, because
  // its owner may have destroyed it.
  bool is_idle() const { return begun_.load() == waited_for_.load(); }
  // Returns the number of ended calls. Their work is complete after the next wait for the stream.
  int64_t ended_work() const { return ended_.load(); }
  void note_wait(int64_t ended) { waited_for_.store(ended); }

  // The following functions use the stream. Only calls of the context may call them.

  // Begins a call: lets releases of the device pass this stream, and runs those that the stream has reached.
  // Precondition: the device is current.
  void begin_call();
  // Runs the releases that the stream has reached. Precondition: the device is current.
  void drain() {
    if (freed_.any() || waiting_.any()) end_passed();
  }
  // Waits for the stream, runs the waiting releases, and returns CUDA's error number.
  int synchronize();
  // Called when the context is closed, because its stream may be destroyed afterwards. Waits for the work of the
  // stream. Returns false if the stream is being captured, which forbids waiting. Releases that still wait are then
  // never run, except those of the legacy stream, which always exists.
  bool close();
  // Returns the stream as the calling thread refers to it. The per-thread stream of another thread has no handle on
  // this thread. The legacy stream is returned instead. It is ordered after the earlier work of the per-thread stream
  // and before its later work.
  CUstream_st* stream_here() const;

 private:
  friend class Device;
  ~Queue();

  // Marks a point of the stream. The releases of the device up to a number have passed the stream when it is reached.
  struct Passage : Retired {
    Queue* queue = nullptr;
    int64_t until = 0;
    std::atomic<bool> is_waiting{false};
  };

  static void end_passage(Retired* self);
  void pass_retired();
  void end_passed();
  bool end_all(CUstream_st* stream);

  Device* device_;
  CUstream_st* stream_;
  uint64_t stream_id_ = 0;  // of the per-thread stream
  std::atomic<int64_t> references_{1};
  std::atomic<int64_t> begun_{0}, ended_{0};  // counts of work
  std::atomic<int64_t> waited_for_{-1};       // work that had ended before the last wait, or -1 before the first wait

  core::Lock lock_;  // orders retire() and close()
  bool is_open_ = true;
  Waiting freed_;    // memory that the next call frees in the order of the stream
  Waiting waiting_;  // other releases, which wait for events of the stream
  Passage passage_;
  std::atomic<int64_t> passed_{0};  // the last release of the device that has passed the stream; Device changes it
  Queue* next_ = nullptr;           // next open queue of the device
};

}  // namespace gather::cuda
