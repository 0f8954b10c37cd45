#include <cstdlib>

#include "state.hpp"

// The functions for tests.
using namespace emulation;

namespace {

// CUDA calls of a test can invalidate captures like those of the library.
void* allocate(int64_t bytes, cudaMemoryType type, int32_t device) {
  return forbid_beside_captures() ? nullptr : allocate_memory(bytes, type, device);
}

}  // namespace

void* gth_emulation_allocate(int64_t bytes) { return allocate(bytes, cudaMemoryTypeDevice, 0); }
void* gth_emulation_allocate_on(int32_t device, int64_t bytes) { return allocate(bytes, cudaMemoryTypeDevice, device); }
void* gth_emulation_allocate_host(int64_t bytes) { return allocate(bytes, cudaMemoryTypeHost, 0); }
void* gth_emulation_allocate_managed(int64_t bytes) { return allocate(bytes, cudaMemoryTypeManaged, 0); }
void gth_emulation_free(void* memory) {
  forbid_beside_captures();
  if (memory && !free_memory(memory)) std::abort();
}

CUstream_st* gth_emulation_make_stream(int32_t device) { return make_stream(device, false); }
void gth_emulation_destroy_stream(CUstream_st* stream) { destroy_stream(stream); }
void gth_emulation_block(CUstream_st* stream) { stream->is_blocking = true; }
void gth_emulation_hold(CUstream_st* stream) { find_stream(stream)->held = true; }
int gth_emulation_synchronize(CUstream_st* stream) {
  const Guard guard(machine().lock);
  wait_for(find_stream(stream));
  return 0;
}

void gth_emulation_begin_capture(CUstream_st* stream) { gth_emulation_begin_capture_in(stream, 0); }
void gth_emulation_begin_capture_in(CUstream_st* stream, int32_t mode) {
  const Guard guard(machine().lock);
  stream->capture = new Capture{stream, ++machine().captures, mode, &this_thread(), false, new CUgraph_st, {}};
  machine().capturing.insert(stream->capture);
}

void* gth_emulation_end_capture(CUstream_st* stream) {
  const Guard guard(machine().lock);
  const std::unique_ptr<Capture> capture(stream->capture);
  machine().capturing.erase(capture.get());
  stream->capture = nullptr;
  for (CUstream_st* each : machine().streams) {
    if (each->capture == capture.get()) each->capture = nullptr;
  }
  if (!capture->spoiled && capture->unjoined.empty()) return capture->graph;
  gth_emulation_destroy_graph(capture->graph);
  return nullptr;
}

void gth_emulation_launch(void* graph, CUstream_st* given) {
  const Guard guard(machine().lock);
  auto* self = static_cast<CUgraph_st*>(graph);
  CUstream_st* stream = find_stream(given);
  for (const Work& work : self->work) give(stream, work);
  join(&self->clock, stream->clock);
}

// The graph is destroyed after its launches have run.
void gth_emulation_destroy_graph(void* graph) {
  const Guard guard(machine().lock);
  const std::unique_ptr<CUgraph_st> self(static_cast<CUgraph_st*>(graph));
  settle(self->clock);
  let_go(self->retained);
}

void gth_emulation_describe(const void* memory, int64_t bytes) {
  const Guard guard(machine().lock);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  machine().described[begin] = begin + static_cast<uintptr_t>(bytes);
}
void gth_emulation_forget_described() { machine().described.clear(); }
int64_t gth_emulation_violations() { return machine().violations; }
void gth_emulation_forgive(int64_t violations) { machine().violations = violations; }

void gth_emulation_between(void (*call)(void*, uint32_t), void* user) {
  machine().between = call;
  machine().between_user = user;
}
void gth_emulation_compile_for(int32_t compute) { machine().compiled_for = compute; }
int64_t gth_emulation_overlaps() { return machine().overlaps; }
uint64_t gth_emulation_kept(int32_t device) { return machine().kept[device]; }
void gth_emulation_read_pageable(int32_t reads) { machine().reads_pageable = reads != 0; }
void gth_emulation_lines_from(int64_t lines) { machine().least_lines = lines; }
void gth_emulation_count_to(int64_t counted) { machine().counted = counted; }
void gth_emulation_shuffle(uint32_t seed) { machine().seed = seed; }
int64_t gth_emulation_launches() { return machine().launches; }
int64_t gth_emulation_live_allocations() { return static_cast<int64_t>(machine().memory.size()); }
void gth_emulation_fail(int64_t n, int32_t code) {
  machine().calls = 0;
  machine().failing = n;
  machine().failure = code;
}
void gth_emulation_before(int64_t n, void (*call)(void*), void* user) {
  machine().before = call;
  machine().before_user = user;
  machine().before_in = n;
}
void gth_emulation_refuse(int32_t code) { machine().refusal = code; }
int64_t gth_emulation_calls() { return machine().calls; }
int32_t gth_emulation_last_error() { return this_thread().last_error; }
int32_t gth_emulation_current() { return current() ? current()->device : -1; }
void gth_emulation_set_current(int32_t device) { set_current(device < 0 ? nullptr : &machine().contexts[device]); }
