#pragma once

#include <atomic>
#include <cstdint>

#include "core/memory.hpp"
#include "core/os.hpp"

struct CUstream_st;

namespace gather::cuda {

// Something that ends once a stream has passed. Whoever hands it over keeps no part of it.
struct Retired {
  void (*finish)(Retired* self) = nullptr;
  Retired* next = nullptr;
  void* event = nullptr;  // nullptr: not recorded yet, because the stream was being captured
};

// The ends that wait for a context's stream. Outlives the context while something that was made with it lives. No end
// runs in a callback of CUDA's: they run in later calls of the context, or here where there will be none.
class Queue : public core::Allocated {
 public:
  Queue(void* device, CUstream_st* stream) : device_(device), stream_(stream) {}

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Ends it after what the stream has been given so far.
  void retire(Retired* retired);
  // Gives device memory back in stream order.
  void deallocate(void* memory);
  // Ends what the stream has passed. The device is current.
  void drain() {
    if (waiting_.load(std::memory_order_relaxed) > 0) end_passed();
  }
  // The context goes, and its stream may go after it: waits for the device, now and for all that is yet to end.
  void close();

 private:
  ~Queue() = default;

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

  void push(Retired* retired);
  Retired* take_all();
  void end_passed();
  void end_all(bool is_lost);
  void end(Retired* retired);
  bool deallocate_in_order(void* memory, bool* capturing);

  void* device_;
  CUstream_st* stream_;
  std::atomic<int64_t> references_{1};
  std::atomic<int64_t> waiting_{0};
  std::atomic<bool> open_{true};
  std::atomic<int64_t> uses_{0};
  core::Lock lock_;  // guards the list
  Retired* first_ = nullptr;
  Retired* last_ = nullptr;
};

}  // namespace gather::cuda
