#pragma once

#include <cstdint>

struct CUstream_st;

// The CUDA functions that the library uses. These are the only declarations between the CUDA layer and the runtime.
// runtime.cpp implements them with the CUDA runtime, and the emulated device implements that runtime without a GPU.
// Functions return CUDA's error number, or 0, and leave no error in the runtime.
namespace gather::cuda::runtime {

using Stream = CUstream_st*;
using Event = void*;
using Device = void*;  // the primary context of a device

int32_t version();
// Returns 0 if there is no driver.
int32_t driver_version();
int device_count(int32_t* count);
struct DeviceFacts {
  int32_t compute;  // 10 * major + minor
  int32_t multiprocessors;
  int64_t memory;
  bool reads_pageable;  // kernels may access host memory that is not registered with CUDA
};
int device_facts(int32_t id, DeviceFacts* facts);

// Makes the device usable and returns the value for enter(). The current device of the calling thread does not change.
int open_device(int32_t id, Device* device);
// Makes the device current for the calling thread until leave(), which takes the value of `entered`.
int enter(Device device, bool* entered);
void leave(bool entered);

// During its lifetime, a query or an allocation on this thread does not invalidate a capture elsewhere.
class Uncaptured {
 public:
  Uncaptured();
  ~Uncaptured();
  Uncaptured(const Uncaptured&) = delete;
  Uncaptured& operator=(const Uncaptured&) = delete;

 private:
  int32_t before_;
};

// For code of the caller that runs before rejoin(). The device is current. If that code makes another device current,
// this is undone. If it frees memory during a capture, the capture is not invalidated.
struct Apart {
  bool entered;
  int32_t mode;
};
Apart set_apart(Device device);
void rejoin(const Apart& apart);

// Creates a stream of the current device that is ordered with no other stream.
int make_stream(Stream* stream);
void destroy_stream(Stream stream);
// Returns a number that distinguishes streams with the same handle, which are the per-thread streams of different
// threads.
int stream_id(Stream stream, uint64_t* id);

// Creates a pool of device memory that keeps up to `kept` bytes and returns the rest to the system. The pool is nullptr
// if the device has no pools.
using Pool = void*;
int make_pool(int32_t id, int64_t kept, Pool* pool);
void destroy_pool(Pool pool);
// Allocates and frees in stream order. Without a pool, they wait for the stream and act at once.
int allocate_async(void** memory, int64_t bytes, Pool pool, Stream stream);
int deallocate_async(void* memory, Pool pool, Stream stream);
int zero_async(void* memory, int64_t bytes, Stream stream);
int copy_async(void* to, const void* from, int64_t bytes, Stream stream);

int synchronize(Stream stream);
// Also sets `capturing` if the stream cannot be used because another stream is being captured.
int is_capturing(Stream stream, bool* capturing);
// Returns the capture of a stream, or 0. Returns implicit_capture if the stream cannot be used. Then another stream is
// being captured, or its own capture was invalidated.
constexpr uint64_t implicit_capture = UINT64_MAX;
int find_capture(Stream stream, uint64_t* id);

// Creates an event on the stream's device, which need not be current.
int create_event(Stream stream, Event* event);
void destroy_event(Event event);
int record_event(Event event, Stream stream);
int wait_event(Stream stream, Event event);
int query_event(Event event, bool* passed);

// Sets `reached` if kernels on the current device can access the memory, which is device memory or pinned, and `there`
// to its device address.
int reach(void* memory, bool* reached, void** there);
// Returns the device of the memory, or -1 if it belongs to no single device. is_known: CUDA has allocated or registered
// it.
int device_of(const void* memory, int32_t* id, bool* is_known);

// Calls release(user) after the graph of the stream's capture and everything made from it are destroyed. It may be
// called on any thread, and must not use CUDA.
int retain_by_capture(Stream stream, void (*release)(void* user), void* user);

// Returns a name such as "cudaErrorInvalidValue".
const char* error_name(int code);

// The error numbers of CUDA that the library distinguishes. CUDA never changes them.
namespace code {
constexpr int no_memory = 2, not_initialized = 3, insufficient_driver = 35, devices_unavailable = 46;
constexpr int invalid_device_function = 98, no_kernel_image = 209;
constexpr int no_jit = 221, unsupported_ptx = 222, jit_disabled = 223;
constexpr int system_not_ready = 802, system_driver_mismatch = 803;
constexpr int first_of_captures = 900, last_of_captures = 908;
}  // namespace code

inline bool means_no_memory(int number) { return number == code::no_memory; }
inline bool means_capture(int number) { return number >= code::first_of_captures && number <= code::last_of_captures; }
// Returns true if the library has no code for the device.
inline bool means_no_kernels(int number) {
  return number == code::invalid_device_function || number == code::no_kernel_image || number == code::no_jit ||
         number == code::unsupported_ptx || number == code::jit_disabled;
}

}  // namespace gather::cuda::runtime
