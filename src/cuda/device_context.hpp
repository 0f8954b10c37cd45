#pragma once

#include <atomic>
#include <cstdint>

#include "core/os/memory.hpp"
#include "core/os/os.hpp"
#include "cuda/cuda.hpp"
#include "cuda/device_state.hpp"
#include "cuda/kernel_job.hpp"
#include "cuda/runtime.hpp"

namespace gather::cuda {

// The sorted keys of a scatter with few updates (cuda/sorted_scatter.cpp).
struct FewKeys {
  uint32_t slices[most_few], updates[most_few];
  uint64_t long_count;
  uint32_t long_firsts[most_few / least_long];
};

// The device memory of a context, in one allocation. Calls that are not captured run in order, so they share it.
struct Workspace {
  State state;
  FewKeys few;
  gth_error_record record;
  gth_error_record taken;  // a take copies the record to here before the host reads it; one take runs at a time
};

struct Room;

// The state of a captured call. The call runs when its graph is replayed, possibly at the same time as other calls. So
// no other call uses this state until the graph is destroyed.
struct CapturedState {
  Room* room;
  State* state;
  CapturedState* next;  // next entry of the free list
};

// Captured states share allocations of device memory.
struct CapturedStates : core::Allocated {
  static constexpr int64_t count = 64;
  State* memory;
  CapturedState each[count];
  CapturedStates* next;
};

// The owner of a workspace. The context and every graph that captured a call of it hold a reference. The last reference
// may be released on any thread. The memory is freed where CUDA may be used.
struct Room : Retired, core::Allocated {
  explicit Room(Device* given);
  ~Room();
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();

  // Returns the state of a new captured call, with a reference to the room, and CUDA's error number. Precondition: the
  // device is current.
  int take(CapturedState** out);
  // Releases the state after the captured call has been destroyed. CUDA must not be used here.
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

// Memory hooks of the caller, or nullptr. They act in the order of the stream.
struct Hooks {
  gth_alloc_fn alloc = nullptr;
  gth_free_fn free = nullptr;
  void* user = nullptr;
  CUstream_st* stream = nullptr;
};

class Context : public core::Allocated {
 public:
  Device* device = nullptr;
  Queue* queue = nullptr;

  Hooks hooks;
  Room* room = nullptr;
  Workspace* workspace = nullptr;      // owned by the room
  gth_error_record* record = nullptr;  // that of the workspace, or the caller's
  core::Mutex taking;

  // Only the kernels of one call use the state at a time, so no other thread launches between them.
  core::Mutex launching;

  std::atomic<int64_t> calls{0};

  // Returns the stream as the calling thread refers to it.
  runtime::Stream stream() const { return queue->stream_here(); }
};

// States if a call leaves work on the context's stream. With `nothing`, the call waits for the work that it enqueues.
enum class Gives : uint8_t { work, nothing };

// A call on the context's device. Only such a call uses the context's stream. It fails in a forked child. It first runs
// the deferred releases. Its destructor restores the thread's current device.
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

// Fails if the stream is being captured. Functions that cannot be captured, and cannot wait during a capture, use it.
// Precondition: a Call exists.
int32_t check_uncaptured(const Context& context, const Error& error);

}  // namespace gather::cuda
