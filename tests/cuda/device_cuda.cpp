#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "buffers.hpp"
#include "device.hpp"

namespace device {
namespace {

// Fails the test if one of its own CUDA calls fails. The other tests still run.
void must(cudaError_t code) {
  if (code != cudaSuccess) ADD_FAILURE() << "CUDA in a test: " << cudaGetErrorString(code);
}

// During its lifetime, calls of the test do not invalidate captures.
class Uncaptured {
 public:
  Uncaptured() { must(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~Uncaptured() { must(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  Uncaptured(const Uncaptured&) = delete;
  Uncaptured& operator=(const Uncaptured&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// Makes another device current during its lifetime.
class On {
 public:
  explicit On(int device) {
    must(cudaGetDevice(&before_));
    must(cudaSetDevice(device));
  }
  ~On() { must(cudaSetDevice(before_)); }
  On(const On&) = delete;
  On& operator=(const On&) = delete;

 private:
  int before_ = 0;
};

std::mutex captures_lock;
int captures = 0;

void count_captures(int change) {
  const std::lock_guard<std::mutex> guard(captures_lock);
  captures += change;
}

// A copy of pageable memory is ordered only with the legacy stream, and that one is not ordered with non-blocking
// streams. A wait for the device ends a capture of any thread, so no capture begins during the wait.
void wait_for_all() {
  const std::lock_guard<std::mutex> guard(captures_lock);
  if (captures == 0) must(cudaDeviceSynchronize());
}

// Returns the stream of the current device for copies, because the legacy stream cannot be used during every capture.
cudaStream_t copy_stream() {
  constexpr int most_devices = 64;
  static std::mutex lock;
  static cudaStream_t streams[most_devices];
  const std::lock_guard<std::mutex> guard(lock);
  int device = 0;
  must(cudaGetDevice(&device));
  cudaStream_t& stream = streams[device % most_devices];
  if (!stream) must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

template <class Work>
void do_and_wait(Work&& work) {
  const Uncaptured uncaptured;
  wait_for_all();
  const cudaStream_t stream = copy_stream();
  must(work(stream));
  must(cudaStreamSynchronize(stream));
}

Buffers buffers;  // of the first device

int find_devices() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

}  // namespace

int count() {
  static const int found = find_devices();
  return found;
}

const char* why_not() { return count() > 0 ? nullptr : "there is no CUDA device"; }
bool is_emulated() { return false; }

void* allocate_on(int device, int64_t bytes) {
  const On on(device);
  const Uncaptured uncaptured;
  void* memory = nullptr;
  must(cudaMalloc(&memory, static_cast<size_t>(bytes ? bytes : 1)));
  return memory;
}

void* allocate(int64_t bytes) {
  if (void* const kept = buffers.take(bytes)) return kept;
  void* const memory = allocate_on(0, bytes);
  buffers.note(memory, bytes);
  return memory;
}

// Like cudaFree, this waits for work that may use the memory.
void deallocate(void* memory) {
  const Uncaptured uncaptured;
  wait_for_all();
  if (!buffers.keep(memory)) must(cudaFree(memory));
}

void* allocate_host(int64_t bytes) {
  void* memory = nullptr;
  must(cudaHostAlloc(&memory, static_cast<size_t>(bytes ? bytes : 1), cudaHostAllocMapped | cudaHostAllocPortable));
  return memory;
}

void deallocate_host(void* memory) { must(cudaFreeHost(memory)); }

void* allocate_managed(int64_t bytes) {
  void* memory = nullptr;
  must(cudaMallocManaged(&memory, static_cast<size_t>(bytes ? bytes : 1), cudaMemAttachGlobal));
  return memory;
}

void copy(void* to, const void* from, int64_t bytes) {
  const size_t size = static_cast<size_t>(bytes);
  do_and_wait([&](cudaStream_t stream) { return cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, stream); });
}

void fill(void* memory, int value, int64_t bytes) {
  const size_t size = static_cast<size_t>(bytes);
  do_and_wait([&](cudaStream_t stream) { return cudaMemsetAsync(memory, value, size, stream); });
}

CUstream_st* make_stream() {
  cudaStream_t stream = nullptr;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

CUstream_st* make_stream_on(int device) {
  const On on(device);
  return make_stream();
}

void destroy(CUstream_st* stream) { must(cudaStreamDestroy(stream)); }
int synchronize(CUstream_st* stream) { return cudaStreamSynchronize(stream); }

// Long enough for the queries of a test.
void hold(CUstream_st* stream) {
  const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(500)); };
  must(cudaLaunchHostFunc(stream, sleep, nullptr));
}

void begin_capture(CUstream_st* stream, Mode mode) {
  count_captures(1);
  must(cudaStreamBeginCapture(stream, mode == Mode::global   ? cudaStreamCaptureModeGlobal
                                      : mode == Mode::thread ? cudaStreamCaptureModeThreadLocal
                                                             : cudaStreamCaptureModeRelaxed));
}

Graph end_capture(CUstream_st* stream) {
  cudaGraph_t captured = nullptr;
  const cudaError_t code = cudaStreamEndCapture(stream, &captured);
  count_captures(-1);
  if (code != cudaSuccess || !captured) {
    cudaGetLastError();
    return nullptr;
  }
  const Uncaptured uncaptured;  // another stream may still be in a capture
  cudaGraphExec_t graph = nullptr;
  must(cudaGraphInstantiate(&graph, captured, 0));
  must(cudaGraphDestroy(captured));
  return graph;
}

void launch(Graph graph, CUstream_st* stream) { must(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), stream)); }

// A global capture of another stream would not permit this call.
void destroy_graph(Graph graph) {
  const Uncaptured uncaptured;
  must(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph)));
}

int current() {
  int device = -1;
  must(cudaGetDevice(&device));
  return device;
}

bool is_entered() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  must(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &found, 12000, cudaEnableDefault, &result));
  CUcontext now = nullptr;
  return reinterpret_cast<CUresult (*)(CUcontext*)>(found)(&now) == CUDA_SUCCESS && now;
}

void describe(const void*, int64_t) {}
void forget_described() {}
int64_t violations() { return 0; }

}  // namespace device
