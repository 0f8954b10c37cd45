#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;

// A machine with two emulated CUDA devices, for tests of the device half where there is none: the functions of CUDA's
// runtime that the library calls, as their documentation has them, and nothing of CUDA behind them. Device memory is host
// memory, kernels run block by block on the calling thread. Where the documentation says what is wrong, it is wrong here;
// where it leaves a thing open, what would be wrong is taken for true: a call makes a device current where a thread has
// none, fails in a child process, needs its stream's device, and spoils the captures beside it unless it is work of a
// stream; what one stream does with memory of a pool must come after what the others do that have not been waited for.
// These are its handles for tests; gth_ because nothing else leaves the library.
extern "C" {

#define GTH_EMULATION __attribute__((visibility("default")))

GTH_EMULATION void* gth_emulation_allocate(int64_t bytes);  // of the first device
GTH_EMULATION void* gth_emulation_allocate_on(int32_t device, int64_t bytes);
GTH_EMULATION void gth_emulation_free(void* memory);
GTH_EMULATION void* gth_emulation_allocate_host(int64_t bytes);
GTH_EMULATION void* gth_emulation_allocate_managed(int64_t bytes);

GTH_EMULATION CUstream_st* gth_emulation_make_stream(int32_t device);
GTH_EMULATION void gth_emulation_destroy_stream(CUstream_st* stream);
// A stream that the legacy default stream is in order with, as those of cudaStreamCreate are.
GTH_EMULATION void gth_emulation_block(CUstream_st* stream);
// What a held stream is given waits until somebody waits for the stream, or it is let go.
GTH_EMULATION void gth_emulation_hold(CUstream_st* stream);
GTH_EMULATION int gth_emulation_synchronize(CUstream_st* stream);

GTH_EMULATION void gth_emulation_begin_capture(CUstream_st* stream);
// In one of CUDA's modes: 0 global, 1 of this thread, 2 relaxed.
GTH_EMULATION void gth_emulation_begin_capture_in(CUstream_st* stream, int32_t mode);
// nullptr: something spoiled the capture.
GTH_EMULATION void* gth_emulation_end_capture(CUstream_st* stream);
GTH_EMULATION void gth_emulation_launch(void* graph, CUstream_st* stream);
GTH_EMULATION void gth_emulation_destroy_graph(void* graph);

// From now on kernels may touch nothing but memory that was described; what they do beyond it, or misaligned, is counted.
GTH_EMULATION void gth_emulation_describe(const void* memory, int64_t bytes);
GTH_EMULATION void gth_emulation_forget_described(void);
GTH_EMULATION int64_t gth_emulation_violations(void);
// So many there have been; those since then were meant.
GTH_EMULATION void gth_emulation_forgive(int64_t violations);

// Called in every block between judging and copying, as another writer might come in between.
GTH_EMULATION void gth_emulation_between(void (*call)(void* user, uint32_t block), void* user);
// The compute capability that kernels were compiled for, 10 * major + minor. They are asked when a device's first context
// is created.
GTH_EMULATION void gth_emulation_compile_for(int32_t compute);
// Kernels that were launched so that they may overlap with the one in front. In a held stream they begin before it.
GTH_EMULATION int64_t gth_emulation_overlaps(void);
// The bytes that the pool which was made last on a device keeps.
GTH_EMULATION uint64_t gth_emulation_kept(int32_t device);
// Whether devices use memory of the host that CUDA does not know. A device is asked when its first context is created.
GTH_EMULATION void gth_emulation_read_pageable(int32_t reads);
// Launches count so far; 0: as far as kernels can.
GTH_EMULATION void gth_emulation_count_to(int64_t counted);
// Blocks run in an order that depends on it.
GTH_EMULATION void gth_emulation_shuffle(uint32_t seed);
GTH_EMULATION int64_t gth_emulation_launches(void);
GTH_EMULATION int64_t gth_emulation_live_allocations(void);
// The n-th call of CUDA from now on fails with this error of CUDA's; 0: none. What cannot fail is not counted.
GTH_EMULATION void gth_emulation_fail(int64_t n, int32_t code);
GTH_EMULATION int64_t gth_emulation_calls(void);
// Called once, by whoever makes the n-th call of CUDA that uses a device from now on, before it.
GTH_EMULATION void gth_emulation_before(int64_t n, void (*call)(void* user), void* user);
// All of them fail with it, as where there is no driver; 0: none.
GTH_EMULATION void gth_emulation_refuse(int32_t code);
// The error that the runtime keeps for this thread.
GTH_EMULATION int32_t gth_emulation_last_error(void);
// The device that is current for the calling thread; -1: none.
GTH_EMULATION int32_t gth_emulation_current(void);
GTH_EMULATION void gth_emulation_set_current(int32_t device);
}
