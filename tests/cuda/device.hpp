#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;

// The device functions that tests call themselves. device_cuda.cpp implements them for a GPU, device_emulated.cpp for
// the emulated device.
namespace device {

// Returns nullptr if there is a device, otherwise the reason for the list of skipped tests.
const char* why_not();
// Returns the number of devices.
int count();
// Returns true if kernels run on the host, one thread at a time.
bool is_emulated();

void* allocate(int64_t bytes);  // on the first device
void* allocate_on(int device, int64_t bytes);
void deallocate(void* memory);
void* allocate_host(int64_t bytes);  // pinned
void deallocate_host(void* memory);
void* allocate_managed(int64_t bytes);
// Copies in any direction. Unless a capture is active, the copy runs after all earlier work of the device, and the call
// waits for it.
void copy(void* to, const void* from, int64_t bytes);
void fill(void* memory, int value, int64_t bytes);

CUstream_st* make_stream();
CUstream_st* make_stream_on(int device);
void destroy(CUstream_st* stream);
// Waits and returns CUDA's number of a device error since the last call, or 0.
int synchronize(CUstream_st* stream);

// Delays further work of the stream for a moment, or until the stream is waited for.
void hold(CUstream_st* stream);

using Graph = void*;
// The capture modes of CUDA, which determine the threads whose calls may invalidate a capture.
enum class Mode { global, thread, relaxed };
void begin_capture(CUstream_st* stream, Mode mode = Mode::global);
Graph end_capture(CUstream_st* stream);  // nullptr: the capture was invalidated
void launch(Graph graph, CUstream_st* stream);
void destroy_graph(Graph graph);

// Returns the current device of this thread.
int current();
// Returns true if this thread has a current device. A new thread has none.
bool is_entered();

// Emulated device only: kernels may access only the described memory, and only aligned.
void describe(const void* memory, int64_t bytes);
void forget_described();
int64_t violations();

}  // namespace device
