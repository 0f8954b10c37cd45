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

// The emulated machine, and what CUDA's handles are on it.
namespace emulation {

using Work = std::function<void()>;

// What a held stream has been given.
struct Given {
  Work work;
  bool overlaps;  // it may begin before what is in front of it has been done
};

// A point in what a stream has been given.
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
  uint64_t time = 0;  // how much it has been given
  bool held = false;
  bool is_blocking = false;
  emulation::Capture* capture = nullptr;
  emulation::Clock clock;                 // what comes before what it is given now
  std::vector<emulation::Given> waiting;  // of a held stream
};

struct CUevent_st {
  int32_t device = 0;
  CUstream_st* stream = nullptr;          // that it was recorded on last
  uint64_t capture = 0;                   // recorded inside that one
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

// A capture: of the stream that it began on, and of those that were made to wait for what it has captured.
struct Capture {
  CUstream_st* origin;
  uint64_t id;
  int mode;
  const void* thread;
  bool spoiled = false;
  CUgraph_st* graph = nullptr;
  std::set<CUstream_st*> unjoined;  // have got work that nothing in the capture waits for
};

struct Memory {
  uintptr_t end;
  cudaMemoryType type;
  int32_t device;
  bool is_of_library = false;
  bool is_pooled = false;
  Clock born;  // where it is there in stream order
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
  bool reads_pageable = false;
  int32_t compiled_for = 120;
  int64_t overlaps = 0;
  Work previous;  // what the running kernel, which overlaps with it, has not waited for yet
  uint64_t kept[devices] = {};
  void (*between)(void*, uint32_t) = nullptr;
  void* between_user = nullptr;
  std::atomic<int64_t> before_in{0};
  void (*before)(void*) = nullptr;
  void* before_user = nullptr;
};

// Never destroyed: at exit streams of threads may still have something to run.
Machine& machine();
using Guard = std::lock_guard<std::recursive_mutex>;

// ---- threads

// The contexts that are current for a thread, the last one now, how it behaves beside captures, and the error that the
// runtime keeps for it.
struct Thread {
  std::vector<CUctx_st*> contexts;
  int mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  int last_error = 0;
  bool is_in_callback = false;
};
Thread& this_thread();
CUctx_st* current();  // nullptr: none
void set_current(CUctx_st* context);
// As CUDA's runtime does: where a thread has no device, a call makes the first one its own, and it stays.
CUctx_st* need_current();

// ---- captures

// The capture of a stream; implicit_capture: the legacy stream, which cannot be used beside that of a blocking one.
uint64_t capture_of(CUstream_st* given);
void spoil(uint64_t capture);
// What is not work of a stream is thought unsafe beside a capture, unless the thread's mode allows it: 0, or the error,
// and the captures that it would not be in are spoiled.
int forbid_beside_captures();
// Lets go what a graph has kept, where CUDA must not be used.
void let_go(const std::vector<CUuserObject_st*>& retained);

// ---- calls

enum class Safety { of_stream, unsafe };

inline cudaError_t keep(int code) {
  if (code) this_thread().last_error = code;
  return static_cast<cudaError_t>(code);
}

// What another thread does just before this call, if a test says so.
void come_between();

// What every call of the runtime that uses a device has in common.
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

// The same of one that gives something back, which does not fail on demand: what it was to give back would be lost.
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
// Who is behind the numbers that streams have.
CUstream_st* find_stream(CUstream_st* stream);
// Work for a stream that is not being captured.
void give(CUstream_st* stream, Work work, bool overlaps = false);
void run_waiting(CUstream_st* stream);
// What comes before anything that a stream is given now: for the legacy stream all blocking ones, for them the legacy one.
void run_what_is_before(CUstream_st* stream);
void wait_for(CUstream_st* stream);
// The host, taken for one thread, knows that this has been done.
void settle(const Clock& known);

// ---- memory

void* allocate_memory(int64_t bytes, cudaMemoryType type, int32_t device);
bool free_memory(void* memory);
// The memory that has all of it; nullptr: none.
Memory* find_memory(const void* address, uint64_t bytes);
// A stream that is doing something, on the host's thread, until the end of the object.
class Running {
 public:
  Running(uint64_t stream, const Clock& clock);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  // Notes that what is running uses the memory, which must be there for it.
  static void use(Memory* memory);
  static const Clock* clock();

 private:
  const Running* outer_;
  uint64_t stream_;
  const Clock* clock_;
};

// The driver's function of a name; nullptr: there is none.
void* find_driver_function(const char* name);

}  // namespace emulation
