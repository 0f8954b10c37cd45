#pragma once

#include <atomic>
#include <cstdint>

#include "core/os/memory.hpp"
#include "core/os/os.hpp"
#include "cuda/cuda.hpp"
#include "cuda/device.hpp"
#include "cuda/job.hpp"
#include "cuda/runtime.hpp"

namespace gather::cuda {

// What a context has in device memory, in one allocation.
struct Workspace {
  State state;  // of the calls that are not captured, which follow each other
  gth_error_record record;
  gth_error_record taken;  // where a record goes that the host takes: one take at a time
};

struct Room;

// The state of a captured call, which runs when its graph is replayed, beside any other call. No other call has it until
// the graph has been destroyed.
struct CapturedState {
  Room* room;
  State* state;
  CapturedState* next;  // of those that no call has
};

// Captured states share allocations of device memory.
struct CapturedStates : core::Allocated {
  static constexpr int64_t count = 64;
  State* memory;
  CapturedState each[count];
  CapturedStates* next;
};

// Who keeps a workspace: its context, and every graph that a call of the context was captured in. It goes when the last of
// them does, on any thread, and is given back where CUDA may be used.
struct Room : Retired, core::Allocated {
  explicit Room(Device* given);
  ~Room();
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();

  // The state of a new captured call, on a device that is current, and a reference to the room. CUDA's number of the
  // error.
  int take(CapturedState** out);
  // The captured call has gone. CUDA must not be used here.
  static void give_back(CapturedState* captured);

  Device* device;
  Workspace* workspace = nullptr;

 private:
  CapturedState* pop();
  int allocate_states();

  core::Lock lock_;  // guards both lists
  CapturedState* free_ = nullptr;
  CapturedStates* all_ = nullptr;
  std::atomic<int64_t> references_{1};
};

class Context : public core::Allocated {
 public:
  Device* device = nullptr;
  Queue* queue = nullptr;

  Room* room = nullptr;
  Workspace* workspace = nullptr;      // the room's
  gth_error_record* record = nullptr;  // the workspace's, or the caller's
  core::Mutex taking;

  // The kernels of a call share its state with no others: no thread launches between them.
  core::Mutex launching;

  std::atomic<int64_t> calls{0};

  // The stream as the calling thread names it.
  runtime::Stream stream() const { return queue->stream_here(); }
};

// What a call gives the context's stream: something, or nothing that the call does not wait for.
enum class Gives : uint8_t { work, nothing };

// A call on the context's device: nothing in a forked child, and ends that waited are run first. The thread's current
// device is put back at the end.
class Call {
 public:
  Call(const Context& context, const Error& error, Gives gives = Gives::work);
  ~Call() {
    if (status_ != GTH_OK) return;
    runtime::leave(entered_);
    if (works_) works_->end_work();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  int32_t status() const { return status_; }

 private:
  bool entered_ = false;
  int32_t status_;
  Queue* works_ = nullptr;
};

// For what can neither be captured nor wait for a capture; inside a Call.
int32_t check_uncaptured(const Context& context, const Error& error);

}  // namespace gather::cuda
