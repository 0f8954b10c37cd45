#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "machine.hpp"
#include "order.hpp"

// The emulated machine, and the objects behind CUDA's handles.
namespace emulation {

using Work = std::function<void()>;

// Work of a held stream.
struct Given {
  Work work;
  bool overlaps;  // may start before the previous work is complete
};

// A position in the work of a stream.
struct Mark {
  bool passed = false;
  Clock clock;
};

struct Capture;

}  // namespace emulation

struct CUctx_st {
  int32_t device;
};

struct CUstream_st {
  int32_t device = 0;
  uint64_t id = 0;
  uint64_t time = 0;  // amount of work so far
  bool held = false;
  bool is_blocking = false;
  emulation::Capture* capture = nullptr;
  emulation::Clock clock;                 // work that precedes new work of this stream
  std::vector<emulation::Given> waiting;  // work of a held stream
};

struct CUevent_st {
  int32_t device = 0;
  CUstream_st* stream = nullptr;          // stream of the last record
  uint64_t capture = 0;                   // capture in which it was recorded
  std::shared_ptr<emulation::Mark> mark;  // nullptr: never recorded
};

struct CUuserObject_st {
  void (*destroy)(void*);
  void* user;
};

struct CUgraph_st {
  std::vector<emulation::Work> work;
  std::vector<CUuserObject_st*> retained;
  emulation::Clock clock;  // of its launches
};

struct CUmemPoolHandle_st {
  int32_t device;
};

namespace emulation {

// A capture. It includes the stream on which it began, and streams that wait for captured work.
struct Capture {
  CUstream_st* origin;
  uint64_t id;
  int mode;
  const void* thread;
  bool spoiled = false;
  CUgraph_st* graph = nullptr;
  std::set<CUstream_st*> unjoined;  // streams with work that nothing in the capture waits for
};

struct Memory {
  uintptr_t end;
  cudaMemoryType type;
  int32_t device;
  bool is_of_library = false;
  bool is_pooled = false;
  Clock born;  // when the memory exists in stream order
  Clock used;
};

constexpr int32_t devices = 2;
constexpr uint64_t implicit_capture = UINT64_MAX;

struct Machine {
  std::recursive_mutex lock;
  CUctx_st contexts[devices];
  CUstream_st default_stream[devices];
  uint64_t streams_made = 0, captures = 0;
  std::vector<CUstream_st*> streams;
  std::set<Capture*> capturing;
  std::map<uintptr_t, Memory> memory;  // by its first byte
  std::map<uintptr_t, uintptr_t> described;
  int64_t violations = 0, launches = 0, calls = 0, failing = 0;
  int32_t failure = 0, refusal = 0;
  pid_t process = 0;
  uint32_t seed = 0;
  int64_t counted = 0;
  int64_t least_lines = 0;
  bool reads_pageable = false;
  int32_t compiled_for = 120;
  int64_t overlaps = 0;
  Work previous;  // the previous kernel, for which the running kernel has not waited yet
  uint64_t kept[devices] = {};
  void (*between)(void*, uint32_t) = nullptr;
  void* between_user = nullptr;
  std::atomic<int32_t> threads{0};  // those that have used the machine and have not ended
  std::atomic<int64_t> before_in{0};
  void (*before)(void*) = nullptr;
  void* before_user = nullptr;
};

// Never destroyed, because per-thread streams may still run work at exit.
Machine& machine();
using Guard = std::lock_guard<std::recursive_mutex>;

// ---- threads

// The stack of current contexts of a thread, its capture mode, and its last runtime error.
struct Thread {
  Thread();
  ~Thread();
  std::vector<CUctx_st*> contexts;
  int mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  int last_error = 0;
  bool is_in_callback = false;
};
Thread& this_thread();
CUctx_st* current();  // nullptr: none
void set_current(CUctx_st* context);
// Like the CUDA runtime: on a thread without a current device, a call makes the first device current, and it stays
// current.
CUctx_st* need_current();

// ---- captures

// Returns the capture of a stream, or implicit_capture for the legacy stream during the capture of a blocking stream.
// Every call of the library that uses a stream calls this. The state of a captured stream belongs to the thread that
// captures it, so a call of another thread counts as a violation.
uint64_t capture_of(CUstream_st* given);
void spoil(uint64_t capture);
// A call that does not enqueue work is unsafe during a capture unless the mode of the thread allows it. Returns 0, or
// the error after it has invalidated the affected captures.
int forbid_beside_captures();
// Releases the objects of a graph. CUDA must not be used here.
void let_go(const std::vector<CUuserObject_st*>& retained);

// ---- calls

enum class Safety { of_stream, unsafe };

inline cudaError_t keep(int code) {
  if (code) this_thread().last_error = code;
  return static_cast<cudaError_t>(code);
}

// Runs the function of a test that changes state just before this call.
void come_between();

// The common part of every runtime call that uses a device.
template <class Body>
cudaError_t call(Safety safety, Body&& body) {
  come_between();
  const Guard guard(machine().lock);
  int code = enter_call();
  if (!code) need_current();
  if (!code && safety == Safety::unsafe) code = forbid_beside_captures();
  if (!code) code = body();
  return keep(code);
}

// The common part of calls that release something. They do not fail on request, because the object would be leaked.
template <class Body>
cudaError_t call_surely(Body&& body) {
  const Guard guard(machine().lock);
  need_current();
  int code = forbid_beside_captures();
  if (!code) code = body();
  return keep(code);
}

// ---- streams

bool is_legacy(CUstream_st* stream);
CUstream_st* make_stream(int32_t device, bool is_blocking);
void destroy_stream(CUstream_st* stream);
// Returns the stream of a handle, including the predefined handles.
CUstream_st* find_stream(CUstream_st* stream);
// Adds work to a stream that is not being captured.
void give(CUstream_st* stream, Work work, bool overlaps = false);
void run_waiting(CUstream_st* stream);
// Runs the work that precedes new work of a stream. Before work of the legacy stream, it runs the work of all blocking
// streams. Before work of a blocking stream, it runs the work of the legacy stream.
void run_what_is_before(CUstream_st* stream);
void wait_for(CUstream_st* stream);
// Records that the host, as one thread, has waited for this work.
void settle(const Clock& known);

// ---- memory

void* allocate_memory(int64_t bytes, cudaMemoryType type, int32_t device);
bool free_memory(void* memory);
// Returns the allocation that contains all of the bytes, or nullptr.
Memory* find_memory(const void* address, uint64_t bytes);
// During its lifetime, the calling thread runs work of a stream.
class Running {
 public:
  Running(uint64_t stream, const Clock& clock);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  // Records that the running work uses the memory, which must exist for it.
  static void use(Memory* memory);
  static const Clock* clock();

 private:
  const Running* outer_;
  uint64_t stream_;
  const Clock* clock_;
};

// Returns the driver function with this name, or nullptr.
void* find_driver_function(const char* name);

}  // namespace emulation
