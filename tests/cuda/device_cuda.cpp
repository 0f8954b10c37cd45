#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

#include "device.hpp"

namespace device {
namespace {

// A test's own use of CUDA does not fail.
void must(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA in a test: %s\n", cudaGetErrorString(code));
  std::abort();
}

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

void* allocate(int64_t bytes) {
  void* memory = nullptr;
  must(cudaMalloc(&memory, static_cast<size_t>(bytes ? bytes : 1)));
  return memory;
}

void deallocate(void* memory) { must(cudaFree(memory)); }

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
  must(cudaMemcpy(to, from, static_cast<size_t>(bytes), cudaMemcpyDefault));
}

void fill(void* memory, int value, int64_t bytes) {
  must(cudaMemset(memory, value, static_cast<size_t>(bytes)));
  must(cudaDeviceSynchronize());
}

CUstream_st* make_stream() {
  cudaStream_t stream = nullptr;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

void destroy(CUstream_st* stream) { must(cudaStreamDestroy(stream)); }
int synchronize(CUstream_st* stream) { return cudaStreamSynchronize(stream); }

void begin_capture(CUstream_st* stream) { must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal)); }

Graph end_capture(CUstream_st* stream) {
  cudaGraph_t captured = nullptr;
  if (cudaStreamEndCapture(stream, &captured) != cudaSuccess || !captured) {
    cudaGetLastError();
    return nullptr;
  }
  cudaGraphExec_t graph = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;  // another stream may still be captured
  must(cudaThreadExchangeStreamCaptureMode(&mode));
  must(cudaGraphInstantiate(&graph, captured, 0));
  must(cudaGraphDestroy(captured));
  must(cudaThreadExchangeStreamCaptureMode(&mode));
  return graph;
}

void launch(Graph graph, CUstream_st* stream) { must(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), stream)); }
void destroy_graph(Graph graph) { must(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph))); }

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
