#include <chrono>
#include <cstring>

#include "../emulation/emulation.hpp"
#include "bench.hpp"
#include "failure.hpp"
#include "work.hpp"

// An emulated device, on which the driver is tested without a GPU. Its times are not measurements.
namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

CUstream_st* stream = nullptr;
Clock::time_point begin;
unsigned long long counters[2];
volatile char sink;

}  // namespace

template <class Work>
void for_each(int64_t count, const Work& work) {
  for (int64_t i = 0; i < count; ++i) work(i);
}

BENCH_INSTANTIATE_FOR_EACH

unsigned long long* zeroed_counters() {
  counters[0] = counters[1] = 0;
  return counters;
}

void read_counters(int64_t values[2]) { std::memcpy(values, counters, sizeof counters); }

}  // namespace bench

using namespace bench;

int32_t bench_open() {
  stream = gth_emulation_make_stream(0);
  return 0;
}

const char* bench_describe() { return "{\"name\": \"an emulated device\", \"is_emulated\": true}"; }
void* bench_stream() { return stream; }
int64_t bench_free_memory() { return int64_t{1} << 30; }

int32_t bench_allocate(int64_t bytes, void** out) {
  return guarded([&] {
    *out = gth_emulation_allocate(bytes);
    if (!*out) throw Failure("out of memory");
  });
}

int32_t bench_free(void* memory) {
  gth_emulation_free(memory);
  return 0;
}

int32_t bench_set_bytes(void* memory, int32_t value, int64_t bytes) {
  std::memset(memory, value, static_cast<size_t>(bytes));
  return 0;
}

int32_t bench_synchronize() { return gth_emulation_synchronize(stream); }

int32_t bench_begin() {
  begin = Clock::now();
  return 0;
}

// The time is never 0, so that a speed can be computed.
int32_t bench_end(double* seconds) {
  *seconds = 1e-9 + std::chrono::duration<double>(Clock::now() - begin).count();
  return 0;
}

int32_t bench_begin_capture() {
  gth_emulation_begin_capture(stream);
  return 0;
}

int32_t bench_end_capture(void** graph) {
  return guarded([&] {
    *graph = gth_emulation_end_capture(stream);
    if (!*graph) throw Failure("something spoiled the capture");
  });
}

int32_t bench_launch(void* graph, int64_t times) {
  for (int64_t i = 0; i < times; ++i) gth_emulation_launch(graph, stream);
  return 0;
}

int32_t bench_destroy_graph(void* graph) {
  gth_emulation_destroy_graph(graph);
  return 0;
}

int32_t bench_copy(void* to, const void* from, int64_t bytes, int64_t times) {
  for (int64_t i = 0; i < times; ++i) std::memcpy(to, from, static_cast<size_t>(bytes));
  return 0;
}

int32_t bench_copy_by_16(void* to, const void* from, int64_t bytes, int64_t times) {
  return bench_copy(to, from, bytes, times);
}

int32_t bench_probe(const void* table, int64_t bytes, int64_t grain, int64_t accesses, int64_t times) {
  for (int64_t i = 0; i < accesses * times; ++i) {
    sink = static_cast<const char*>(table)[to_below(bytes / grain, to_unit(mix(static_cast<uint64_t>(i)))) * grain];
  }
  return 0;
}
