#pragma once

#include <cstdint>

// The device functions of the benchmark. library.py binds them for the driver, which is written in Python. device.cu
// implements them for a GPU, rehearsal.cpp for an emulated device in host memory. All work uses one stream. Functions
// of type int32_t return 0, or 1 if they failed. bench_error() returns the reason.
extern "C" {

#define BENCH __attribute__((visibility("default")))

BENCH const char* bench_error();

// ---- the device: device.cu or rehearsal.cpp

BENCH int32_t bench_open();
// Returns JSON, which is valid until the next call.
BENCH const char* bench_describe();
BENCH void* bench_stream();
BENCH int64_t bench_free_memory();
BENCH int32_t bench_allocate(int64_t bytes, void** out);
BENCH int32_t bench_free(void* memory);
BENCH int32_t bench_set_bytes(void* memory, int32_t value, int64_t bytes);
BENCH int32_t bench_synchronize();

// Measures the device time between the two calls, in seconds.
BENCH int32_t bench_begin();
BENCH int32_t bench_end(double* seconds);

// Creates a graph of the work between the two calls.
BENCH int32_t bench_begin_capture();
BENCH int32_t bench_end_capture(void** graph);
BENCH int32_t bench_launch(void* graph, int64_t times);
BENCH int32_t bench_destroy_graph(void* graph);

// ---- the limits of the device: device.cu or rehearsal.cpp

// The device's own copy function.
BENCH int32_t bench_copy(void* to, const void* from, int64_t bytes, int64_t times);
// A copy kernel with 16 bytes per thread.
BENCH int32_t bench_copy_by_16(void* to, const void* from, int64_t bytes, int64_t times);
// Reads `accesses` pieces of `grain` bytes (a power of two from 32) at random aligned places of a table.
BENCH int32_t bench_probe(const void* table, int64_t bytes, int64_t grain, int64_t accesses, int64_t times);

// ---- data and results: work.cpp

// Fills a table with bytes that depend on their offset. So a formula can check results.
BENCH int32_t bench_fill(void* table, int64_t bytes);
// Makes n indices below `size`: uniform (0), ascending (1), or with the Zipf distribution of exponent 1.05 (2).
BENCH int32_t bench_make_indices(void* out, int32_t bytes, int64_t n, int64_t size, int32_t distribution);
// Converts row numbers to tuples of `depth` components.
BENCH int32_t bench_split_indices(void* out, const void* rows, int32_t bytes, int64_t n, int32_t depth,
                                  const int64_t* dims);
// Sets the indices of a cell and the places of their rows in the table. out[b, o, j] is the row (b * outer + o) * size
// + indices[b, j], from `offset` bytes after the start of the table.
BENCH int32_t bench_set_geometry(const void* indices, int32_t index_bytes, int64_t batch, int64_t outer, int64_t size,
                                 int64_t tuples, int64_t row, int64_t offset);
// Counts the sectors of 32 and of 64 bytes that contain the rows. A sector counts once for each row in it.
BENCH int32_t bench_count_sectors(int64_t* of_32, int64_t* of_64);
// Counts the wrong bytes of an output.
BENCH int32_t bench_verify(const void* out, int64_t* wrong);

// ---- gathers: gathers.cpp

struct bench_gather;

// Creates a context on the stream. Call it once before the other functions.
BENCH int32_t bench_open_gathers();
// Tensors have elements of one byte. depth 0 selects gather along `axis`. Without has_axis, `axis` is also batch_dims.
// bounds is one of GTH_BOUNDS_*.
BENCH int32_t bench_make_gather(const void* params, int32_t params_ndim, const int64_t* params_shape,
                                const void* indices, int32_t index_bytes, int32_t indices_ndim,
                                const int64_t* indices_shape, void* out, int32_t is_nd, int32_t axis,
                                int32_t batch_dims, int32_t bounds, bench_gather** gather);
BENCH int32_t bench_release_gather(bench_gather* gather);
// Enqueues a run of the plan.
BENCH int32_t bench_run_gather(bench_gather* gather, int64_t times);
// Measures the host time of one call in seconds, with a few calls on an idle stream. The call is a run of the plan, or
// has descriptions.
BENCH int32_t bench_time_plan(bench_gather* gather, int64_t times, double* seconds);
BENCH int32_t bench_time_call(bench_gather* gather, int64_t times, double* seconds);
// Waits, and fails if an index was out of bounds.
BENCH int32_t bench_take_error();
}
