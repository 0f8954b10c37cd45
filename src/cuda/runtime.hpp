#pragma once

#include <cstdint>

struct CUstream_st;

// CUDA as far as the library uses it, in words of its own: the only declarations between the CUDA half and the runtime.
// runtime.cpp is made of CUDA's runtime, the tests have one that needs no GPU. Functions return CUDA's error number, 0
// for none, and leave no error behind in the runtime.
namespace gather::cuda::runtime {

using Stream = CUstream_st*;
using Event = void*;
using Device = void*;  // the primary context of a device

int32_t version();
// 0: no driver.
int32_t driver_version();
int device_count(int32_t* count);
struct DeviceFacts {
  int32_t compute;  // 10 * major + minor
  int32_t multiprocessors;
  int64_t memory;
  bool reads_pageable;  // kernels may use memory of the host that CUDA does not know
};
int device_facts(int32_t id, DeviceFacts* facts);

// Makes the device usable and hands out what enter() wants. The calling thread's current device stays as it is.
int open_device(int32_t id, Device* device);
// Makes the device current for the calling thread until leave(), which gets what enter() gave.
int enter(Device device, bool* entered);
void leave(bool entered);

// For code of a caller's, until rejoin(): the device is current, and neither what it makes current instead nor what it
// frees while something is being captured outlasts it or spoils anything.
struct Apart {
  bool entered;
  int32_t mode;
};
Apart set_apart(Device device);
void rejoin(const Apart& apart);

// A stream that is in order with no other, of the current device.
int make_stream(Stream* stream);
void destroy_stream(Stream stream);
// What tells streams apart that have the same name: the stream per thread of one thread and of another.
int stream_id(Stream stream, uint64_t* id);

// A pool of device memory that gives nothing back to the system but what it has above `kept` bytes; nullptr where the
// device has no pools.
using Pool = void*;
int make_pool(int32_t id, int64_t kept, Pool* pool);
void destroy_pool(Pool pool);
// In stream order; without a pool at once, after a wait for the stream.
int allocate_async(void** memory, int64_t bytes, Pool pool, Stream stream);
int deallocate_async(void* memory, Pool pool, Stream stream);
int zero_async(void* memory, int64_t bytes, Stream stream);
int copy_async(void* to, const void* from, int64_t bytes, Stream stream);

int synchronize(Stream stream);
// Also true where the stream cannot be used because another one is being captured.
int is_capturing(Stream stream, bool* capturing);
// The capture that a stream is in, 0 for none; implicit_capture where it cannot be used because of another's, or
// because its own has been spoiled.
constexpr uint64_t implicit_capture = UINT64_MAX;
int find_capture(Stream stream, uint64_t* id);

// On the stream's device, which need not be the current one.
int create_event(Stream stream, Event* event);
void destroy_event(Event event);
int record_event(Event event, Stream stream);
int wait_event(Stream stream, Event event);
int query_event(Event event, bool* passed);

// Whether kernels on the current device reach the memory, and where: memory of a device, or pinned.
int reach(void* memory, bool* reached, void** there);
// The device that memory is on; -1: it is no device's alone. is_known: CUDA has allocated or registered it.
int device_of(const void* memory, int32_t* id, bool* is_known);

// Calls release(user) when the graph that the stream is being captured into has gone, and all that was made from it; on
// any thread, on which CUDA must not be used.
int retain_by_capture(Stream stream, void (*release)(void* user), void* user);

// "cudaErrorInvalidValue" and the like.
const char* error_name(int code);

// CUDA's numbers, which never change, as far as the library tells them apart.
namespace code {
constexpr int no_memory = 2, not_initialized = 3, insufficient_driver = 35, devices_unavailable = 46;
constexpr int invalid_device_function = 98, no_kernel_image = 209;
constexpr int no_jit = 221, unsupported_ptx = 222, jit_disabled = 223;
constexpr int system_not_ready = 802, system_driver_mismatch = 803;
constexpr int first_of_captures = 900, captured_event = 907, last_of_captures = 908;
}  // namespace code

inline bool means_no_memory(int number) { return number == code::no_memory; }
inline bool means_capture(int number) { return number >= code::first_of_captures && number <= code::last_of_captures; }
// That no code of this library is for the device.
inline bool means_no_kernels(int number) {
  return number == code::invalid_device_function || number == code::no_kernel_image || number == code::no_jit ||
         number == code::unsupported_ptx || number == code::jit_disabled;
}

}  // namespace gather::cuda::runtime
