#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;

// What the device tests ask of a device themselves: device_cuda.cpp has a real one, device_emulated.cpp an emulated
// one.
namespace device {

// nullptr: there is one. Otherwise why not, for the list of skipped tests.
const char* why_not();
// How many there are.
int count();
// Whether kernels run on the host, one thread at a time.
bool is_emulated();

void* allocate(int64_t bytes);  // on the first one
void* allocate_on(int device, int64_t bytes);
void deallocate(void* memory);
void* allocate_host(int64_t bytes);  // pinned
void deallocate_host(void* memory);
void* allocate_managed(int64_t bytes);
// In any direction; after all that the device has been given, unless something is being captured, and waits.
void copy(void* to, const void* from, int64_t bytes);
void fill(void* memory, int value, int64_t bytes);

CUstream_st* make_stream();
CUstream_st* make_stream_on(int device);
void destroy(CUstream_st* stream);
// CUDA's number for what went wrong on the device since it was asked last.
int synchronize(CUstream_st* stream);

// What the stream is given from now on waits a moment, or until somebody waits for it.
void hold(CUstream_st* stream);

using Graph = void*;
// As CUDA names the threads whose calls may spoil a capture.
enum class Mode { global, thread, relaxed };
void begin_capture(CUstream_st* stream, Mode mode = Mode::global);
Graph end_capture(CUstream_st* stream);  // nullptr: something spoiled it
void launch(Graph graph, CUstream_st* stream);
void destroy_graph(Graph graph);

// The device that is current for this thread.
int current();
// Whether it has one at all; a thread begins without.
bool is_entered();

// With an emulated device: kernels may touch nothing but memory described, and nothing misaligned.
void describe(const void* memory, int64_t bytes);
void forget_described();
int64_t violations();

}  // namespace device
