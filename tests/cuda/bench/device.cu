#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "bench.hpp"
#include "failure.hpp"
#include "work.hpp"

// The first GPU of this machine.
namespace bench {
namespace {

constexpr int threads = 256;
cudaStream_t stream = nullptr;
cudaEvent_t begin_event = nullptr, end_event = nullptr;
unsigned long long* counters = nullptr;
uint32_t* sink = nullptr;
int64_t most_blocks = 0;

void must(cudaError_t code) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // clears the error
  throw Failure(std::string("CUDA: ") + cudaGetErrorString(code));
}

unsigned blocks_for(int64_t count) {
  return static_cast<unsigned>(std::clamp<int64_t>((count + threads - 1) / threads, 1, most_blocks));
}

__device__ int64_t first_number() { return blockIdx.x * int64_t{threads} + threadIdx.x; }
__device__ int64_t all_numbers() { return gridDim.x * int64_t{threads}; }

template <class Work>
__global__ void __launch_bounds__(threads) work_kernel(int64_t count, Work work) {
  for (int64_t i = first_number(); i < count; i += all_numbers()) work(i);
}

constexpr int in_flight = 8;

__global__ void __launch_bounds__(threads)
    copy_kernel(uint4* __restrict__ to, const uint4* __restrict__ from, int64_t count) {
#pragma unroll 4
  for (int64_t i = first_number(); i < count; i += all_numbers()) to[i] = from[i];
}

// Each thread loads one sector at a time. Neighbouring threads load the sectors of one piece, so that they are fetched
// together. The places are hashes, and no indices are read.
__global__ void __launch_bounds__(threads)
    probe_kernel(const char* table, int64_t pieces, int grain_log2, int64_t sectors, uint32_t seed, uint32_t* sum) {
  uint32_t mine = 0;
  const int within_log2 = grain_log2 - 5;
  for (int64_t first = first_number(); first < sectors; first += all_numbers() * in_flight) {
    uint32_t loaded[in_flight] = {};
#pragma unroll
    for (int i = 0; i < in_flight; ++i) {
      const int64_t sector = first + i * all_numbers();
      const uint64_t random = mix(static_cast<uint64_t>(sector >> within_log2) + (uint64_t{seed} << 40));
      const int64_t piece = static_cast<int64_t>(__umul64hi(random, static_cast<uint64_t>(pieces)));
      const int64_t within = sector & ((int64_t{1} << within_log2) - 1);
      if (sector < sectors) {
        loaded[i] = __ldg(reinterpret_cast<const uint4*>(table + (piece << grain_log2) + within * 32)).x;
      }
    }
#pragma unroll
    for (int i = 0; i < in_flight; ++i) mine ^= loaded[i];
  }
  if (mine == 0x12345678) *sum = mine;  // prevents that the compiler removes the loads
}

int log2_of(int64_t value) {
  int result = 0;
  while ((int64_t{1} << result) < value) ++result;
  return result;
}

}  // namespace

template <class Work>
void for_each(int64_t count, const Work& work) {
  if (count == 0) return;
  work_kernel<<<blocks_for(count), threads, 0, stream>>>(count, work);
  must(cudaGetLastError());
}

BENCH_INSTANTIATE_FOR_EACH

unsigned long long* zeroed_counters() {
  must(cudaMemsetAsync(counters, 0, 2 * sizeof *counters, stream));
  return counters;
}

void read_counters(int64_t values[2]) {
  static_assert(sizeof *counters == sizeof *values);
  must(cudaStreamSynchronize(stream));
  must(cudaMemcpy(values, counters, 2 * sizeof *counters, cudaMemcpyDeviceToHost));
}

}  // namespace bench

using namespace bench;

int32_t bench_open() {
  return guarded([] {
    int devices = 0, multiprocessors = 0;
    const cudaError_t code = cudaGetDeviceCount(&devices);
    if (code == cudaSuccess && devices == 0) throw Failure("there is no CUDA device");
    if (code != cudaSuccess) throw Failure(std::string("there is no CUDA device: ") + cudaGetErrorString(code));
    must(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    most_blocks = multiprocessors * 8;
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    must(cudaEventCreate(&begin_event));
    must(cudaEventCreate(&end_event));
    must(cudaMalloc(&counters, 2 * sizeof *counters));
    must(cudaMalloc(&sink, sizeof *sink));
  });
}

const char* bench_describe() {
  static char text[512];
  cudaDeviceProp device;
  int driver = 0, runtime = 0;
  if (cudaGetDeviceProperties(&device, 0) || cudaDriverGetVersion(&driver) || cudaRuntimeGetVersion(&runtime)) {
    return "{}";
  }
  std::snprintf(text, sizeof text,
                "{\"name\": \"%s\", \"compute_capability\": \"%d.%d\", \"multiprocessors\": %d, \"l2_bytes\": %d, "
                "\"memory_bytes\": %zu, \"driver_cuda\": \"%d.%d\", \"runtime_cuda\": \"%d.%d\"}",
                device.name, device.major, device.minor, device.multiProcessorCount, device.l2CacheSize,
                device.totalGlobalMem, driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  return text;
}

void* bench_stream() { return stream; }

int64_t bench_free_memory() {
  size_t free = 0, total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? static_cast<int64_t>(free) : 0;
}

int32_t bench_allocate(int64_t bytes, void** out) {
  return guarded([&] { must(cudaMalloc(out, static_cast<size_t>(bytes))); });
}

int32_t bench_free(void* memory) {
  return guarded([&] { must(cudaFree(memory)); });
}

int32_t bench_set_bytes(void* memory, int32_t value, int64_t bytes) {
  return guarded([&] { must(cudaMemsetAsync(memory, value, static_cast<size_t>(bytes), stream)); });
}

int32_t bench_synchronize() {
  return guarded([] { must(cudaStreamSynchronize(stream)); });
}

int32_t bench_begin() {
  return guarded([] { must(cudaEventRecord(begin_event, stream)); });
}

int32_t bench_end(double* seconds) {
  return guarded([&] {
    must(cudaEventRecord(end_event, stream));
    must(cudaEventSynchronize(end_event));
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, begin_event, end_event));
    *seconds = static_cast<double>(milliseconds) / 1e3;
  });
}

// The mode is relaxed, because frameworks may allocate memory during a capture.
int32_t bench_begin_capture() {
  return guarded([] { must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed)); });
}

int32_t bench_end_capture(void** out) {
  return guarded([&] {
    cudaGraph_t captured = nullptr;
    must(cudaStreamEndCapture(stream, &captured));
    cudaGraphExec_t graph = nullptr;
    const cudaError_t code = cudaGraphInstantiate(&graph, captured, 0);
    must(cudaGraphDestroy(captured));
    must(code);
    *out = graph;
  });
}

int32_t bench_launch(void* graph, int64_t times) {
  return guarded([&] {
    for (int64_t i = 0; i < times; ++i) must(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), stream));
  });
}

int32_t bench_destroy_graph(void* graph) {
  return guarded([&] { must(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph))); });
}

int32_t bench_copy(void* to, const void* from, int64_t bytes, int64_t times) {
  return guarded([&] {
    for (int64_t i = 0; i < times; ++i) {
      must(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice, stream));
    }
  });
}

int32_t bench_copy_by_16(void* to, const void* from, int64_t bytes, int64_t times) {
  return guarded([&] {
    const int64_t count = bytes / 16;
    for (int64_t i = 0; i < times; ++i) {
      copy_kernel<<<blocks_for(count), threads, 0, stream>>>(static_cast<uint4*>(to), static_cast<const uint4*>(from),
                                                             count);
      must(cudaGetLastError());
    }
  });
}

int32_t bench_probe(const void* table, int64_t bytes, int64_t grain, int64_t accesses, int64_t times) {
  static uint32_t seed = 0;  // other places in each call
  return guarded([&] {
    const int64_t sectors = accesses * (grain / 32);
    for (int64_t i = 0; i < times; ++i) {
      probe_kernel<<<blocks_for(sectors), threads, 0, stream>>>(static_cast<const char*>(table), bytes / grain,
                                                                log2_of(grain), sectors, ++seed, sink);
      must(cudaGetLastError());
    }
  });
}
