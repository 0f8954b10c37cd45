#pragma once

#include <cstdint>

// What the benchmark's driver, which is Python, asks of a device: library.py binds these functions. device.cu has a
// real one, rehearsal.cpp an emulated one in host memory. All work goes to one stream. Functions of type int32_t
// return 0, or 1 where bench_error() says why not.
extern "C" {

#define BENCH __attribute__((visibility("default")))

BENCH const char* bench_error();

// ---- the device: device.cu or rehearsal.cpp

BENCH int32_t bench_open();
// As JSON; valid until the next call.
BENCH const char* bench_describe();
BENCH void* bench_stream();
BENCH int64_t bench_free_memory();
BENCH int32_t bench_allocate(int64_t bytes, void** out);
BENCH int32_t bench_free(void* memory);
BENCH int32_t bench_set_bytes(void* memory, int32_t value, int64_t bytes);
BENCH int32_t bench_synchronize();

// Device time between the two, in seconds.
BENCH int32_t bench_begin();
BENCH int32_t bench_end(double* seconds);

// What is enqueued between the two becomes a graph.
BENCH int32_t bench_begin_capture();
BENCH int32_t bench_end_capture(void** graph);
BENCH int32_t bench_launch(void* graph, int64_t times);
BENCH int32_t bench_destroy_graph(void* graph);

// ---- what the device can do at best: device.cu or rehearsal.cpp

// The device's own copy.
BENCH int32_t bench_copy(void* to, const void* from, int64_t bytes, int64_t times);
// A copy by 16 bytes a thread.
BENCH int32_t bench_copy_by_16(void* to, const void* from, int64_t bytes, int64_t times);
// Reads `accesses` pieces of `grain` bytes (a power of two from 32) at random aligned places of a table.
BENCH int32_t bench_probe(const void* table, int64_t bytes, int64_t grain, int64_t accesses, int64_t times);

// ---- data and results: work.cpp

// What tables hold: bytes that follow from their place, so that results are checked against a formula.
BENCH int32_t bench_fill(void* table, int64_t bytes);
// n indices below `size`: uniform (0), ascending (1), or of zipf's distribution with exponent 1.05 (2).
BENCH int32_t bench_make_indices(void* out, int32_t bytes, int64_t n, int64_t size, int32_t distribution);
// Row numbers as tuples of `depth` components.
BENCH int32_t bench_split_indices(void* out, const void* rows, int32_t bytes, int64_t n, int32_t depth,
                                  const int64_t* dims);
// The indices of a cell, and where in the table the rows lie that they mean: out[b, o, j] is the row
// (b * outer + o) * size + indices[b, j] from `offset` bytes behind the table's beginning.
BENCH int32_t bench_set_geometry(const void* indices, int32_t index_bytes, int64_t batch, int64_t outer, int64_t size,
                                 int64_t tuples, int64_t row, int64_t offset);
// Sectors of 32 and of 64 bytes that its rows lie in, each row for itself.
BENCH int32_t bench_count_sectors(int64_t* of_32, int64_t* of_64);
// How many bytes of an output are not what they have to be.
BENCH int32_t bench_verify(const void* out, int64_t* wrong);

// ---- gathers: gathers.cpp

struct bench_gather;

// Once, before all others: a context on the stream.
BENCH int32_t bench_open_gathers();
// Tensors are of single bytes; depth 0 is gather along `axis`, which is batch_dims too unless has_axis.
BENCH int32_t bench_make_gather(const void* params, int32_t params_ndim, const int64_t* params_shape,
                                const void* indices, int32_t index_bytes, int32_t indices_ndim,
                                const int64_t* indices_shape, void* out, int32_t is_nd, int32_t axis,
                                int32_t batch_dims, int32_t is_checked, bench_gather** gather);
BENCH int32_t bench_release_gather(bench_gather* gather);
// Enqueues it: a run of its plan.
BENCH int32_t bench_run_gather(bench_gather* gather, int64_t times);
// Seconds that the host spends on one call, when a few of them are enqueued on an idle stream: a run of the plan, or
// the call with descriptions.
BENCH int32_t bench_time_plan(bench_gather* gather, int64_t times, double* seconds);
BENCH int32_t bench_time_call(bench_gather* gather, int64_t times, double* seconds);
// Waits; fails if an index was out of bounds.
BENCH int32_t bench_take_error();
}
