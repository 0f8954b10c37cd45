#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;

// An emulated machine with two CUDA devices, for tests of the CUDA layer without a GPU. It implements the functions of
// the CUDA runtime that the library calls, as their documentation describes them. Device memory is host memory. Kernels
// run block by block on the calling thread.
// It reports what the documentation forbids. Where the documentation is silent, it assumes the worst case for the
// library. A call makes a device current on a thread that has none. Calls fail in a child process. A stream must belong
// to the current device. Every call that does not enqueue work invalidates other captures. If a stream uses memory of a
// pool, this must be ordered after the uses by other streams that have not been waited for. While a thread captures a
// stream, the library must not use the stream on another thread.
// The functions below are for tests. They have the prefix gth_, because the library exports no other names.
extern "C" {

#define GTH_EMULATION __attribute__((visibility("default")))

GTH_EMULATION void* gth_emulation_allocate(int64_t bytes);  // of the first device
GTH_EMULATION void* gth_emulation_allocate_on(int32_t device, int64_t bytes);
GTH_EMULATION void gth_emulation_free(void* memory);
GTH_EMULATION void* gth_emulation_allocate_host(int64_t bytes);
GTH_EMULATION void* gth_emulation_allocate_managed(int64_t bytes);

GTH_EMULATION CUstream_st* gth_emulation_make_stream(int32_t device);
GTH_EMULATION void gth_emulation_destroy_stream(CUstream_st* stream);
// Makes the stream ordered with the legacy default stream, like the streams of cudaStreamCreate.
GTH_EMULATION void gth_emulation_block(CUstream_st* stream);
// Holds a stream: its work runs when the stream is waited for or released from holding.
GTH_EMULATION void gth_emulation_hold(CUstream_st* stream);
GTH_EMULATION int gth_emulation_synchronize(CUstream_st* stream);

GTH_EMULATION void gth_emulation_begin_capture(CUstream_st* stream);
// Begins a capture in one of CUDA's modes: 0 global, 1 of this thread, 2 relaxed.
GTH_EMULATION void gth_emulation_begin_capture_in(CUstream_st* stream, int32_t mode);
// Returns nullptr if the capture was invalidated.
GTH_EMULATION void* gth_emulation_end_capture(CUstream_st* stream);
GTH_EMULATION void gth_emulation_launch(void* graph, CUstream_st* stream);
GTH_EMULATION void gth_emulation_destroy_graph(void* graph);

// From now on, kernels may access only the described memory. Other accesses and misaligned ones are counted as
// violations.
GTH_EMULATION void gth_emulation_describe(const void* memory, int64_t bytes);
GTH_EMULATION void gth_emulation_forget_described(void);
GTH_EMULATION int64_t gth_emulation_violations(void);
// Sets the count of violations back to `violations`, because the test intended the later ones.
GTH_EMULATION void gth_emulation_forgive(int64_t violations);

// Sets a function that every block calls between validation and copy, where another writer may change data.
GTH_EMULATION void gth_emulation_between(void (*call)(void* user, uint32_t block), void* user);
// Sets the compute capability for which kernels were compiled, 10 * major + minor. It is read when the first context of
// a device is created.
GTH_EMULATION void gth_emulation_compile_for(int32_t compute);
// Returns the number of kernels that were launched with permission to overlap the previous kernel. In a held stream,
// these kernels start before the previous kernel.
GTH_EMULATION int64_t gth_emulation_overlaps(void);
// Returns the bytes that the newest pool of a device keeps.
GTH_EMULATION uint64_t gth_emulation_kept(int32_t device);
// Sets whether devices can access unregistered host memory. This is read when the first context of a device is created.
GTH_EMULATION void gth_emulation_read_pageable(int32_t reads);
// Sets the limit of the counts of a launch. 0 means the limit of the kernels.
GTH_EMULATION void gth_emulation_count_to(int64_t counted);
// Sets the number of lines from which on a thread processes a line of a scatter. 0 means that of the kernels.
GTH_EMULATION void gth_emulation_lines_from(int64_t lines);
// Sets the seed of the order in which blocks run.
GTH_EMULATION void gth_emulation_shuffle(uint32_t seed);
GTH_EMULATION int64_t gth_emulation_launches(void);
GTH_EMULATION int64_t gth_emulation_live_allocations(void);
// The n-th CUDA call from now on fails with this CUDA error. 0 disables this. Calls that cannot fail are not counted.
GTH_EMULATION void gth_emulation_fail(int64_t n, int32_t code);
GTH_EMULATION int64_t gth_emulation_calls(void);
// Sets a function that runs once, before the n-th of the next CUDA calls that use a device. It runs on the thread of
// that call.
GTH_EMULATION void gth_emulation_before(int64_t n, void (*call)(void* user), void* user);
// All calls fail with this error, as without a driver. 0 disables this.
GTH_EMULATION void gth_emulation_refuse(int32_t code);
// Returns the last error of the runtime for this thread.
GTH_EMULATION int32_t gth_emulation_last_error(void);
// Returns the current device of the calling thread, or -1.
GTH_EMULATION int32_t gth_emulation_current(void);
GTH_EMULATION void gth_emulation_set_current(int32_t device);
}
