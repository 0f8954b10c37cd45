#include "cuda/runtime.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>

namespace gather::cuda::runtime {
namespace {

// Clears the runtime's last error, which a later call would otherwise report as its own.
int settled(cudaError_t code) {
  if (code != cudaSuccess) cudaGetLastError();
  return code;
}

// Finds the few driver functions that are needed to restore a thread's current context.
template <class Pointer>
int find(const char* name, Pointer* out) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  const int code = settled(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result));
  if (code) return code;
  if (result != cudaDriverEntryPointSuccess || !found) return cudaErrorSymbolNotFound;
  *out = reinterpret_cast<decltype(out->load())>(found);
  return 0;
}

template <class... Arguments>
using DriverCall = std::atomic<CUresult (*)(Arguments...)>;

DriverCall<CUcontext*> get_current{nullptr};
DriverCall<CUcontext> set_current{nullptr};
DriverCall<CUcontext> push_current{nullptr};
DriverCall<CUcontext*> pop_current{nullptr};
DriverCall<CUstream, CUcontext*> get_stream_context{nullptr};
DriverCall<CUstreamCaptureMode*> exchange_capture_mode{nullptr};

// Threads that call this at the same time write the same values.
int find_driver() {
  int code = find("cuCtxGetCurrent", &get_current);
  if (!code) code = find("cuCtxSetCurrent", &set_current);
  if (!code) code = find("cuCtxPushCurrent", &push_current);
  if (!code) code = find("cuCtxPopCurrent", &pop_current);
  if (!code) code = find("cuStreamGetCtx", &get_stream_context);
  if (!code) code = find("cuThreadExchangeStreamCaptureMode", &exchange_capture_mode);
  return code;
}

// Returns the previous mode, or -1 if there is no driver. The runtime's own function would make a device current on a
// thread that has none.
int32_t exchange_mode(int32_t mode) {
  const auto exchange = exchange_capture_mode.load();
  if (mode < 0 || !exchange) return -1;
  auto exchanged = static_cast<CUstreamCaptureMode>(mode);
  return exchange(&exchanged) == CUDA_SUCCESS ? exchanged : -1;
}

// Makes a context current during the lifetime of the object.
class Inside {
 public:
  explicit Inside(CUcontext context) : is_inside_(context && push_current.load()(context) == CUDA_SUCCESS) {}
  ~Inside() {
    CUcontext left = nullptr;
    if (is_inside_) pop_current.load()(&left);
  }

 private:
  bool is_inside_;
};

// Restores a thread without a current device after runtime calls that may have made one current.
class Unentered {
 public:
  Unentered() {
    if (set_current.load() || !find_driver()) get_current.load()(&before_);
  }
  ~Unentered() {
    if (!before_ && set_current.load()) set_current.load()(nullptr);
  }

 private:
  CUcontext before_ = nullptr;
};

// The runtime's function would query about a hundred other properties.
int total_memory(int32_t id, int64_t* bytes) {
  DriverCall<CUdevice*, int> get_device{nullptr};
  DriverCall<size_t*, CUdevice> get_total{nullptr};
  int code = find("cuDeviceGet", &get_device);
  if (!code) code = find("cuDeviceTotalMem", &get_total);
  CUdevice device = 0;
  size_t total = 0;
  if (!code) code = get_device.load()(&device, id);
  if (!code) code = get_total.load()(&total, device);
  *bytes = static_cast<int64_t>(total);
  return code;
}

}  // namespace

Uncaptured::Uncaptured() : before_(exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED)) {}
Uncaptured::~Uncaptured() { exchange_mode(before_); }

int32_t version() { return CUDART_VERSION; }

int32_t driver_version() {
  int result = 0;
  return settled(cudaDriverGetVersion(&result)) == 0 ? result : 0;
}

int device_count(int32_t* count) {
  int found = 0;
  const int code = settled(cudaGetDeviceCount(&found));
  *count = code ? 0 : found;
  return code;
}

int device_facts(int32_t id, DeviceFacts* facts) {
  int major = 0, minor = 0;
  int code = settled(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, id));
  if (!code) code = settled(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, id));
  if (!code) code = settled(cudaDeviceGetAttribute(&facts->multiprocessors, cudaDevAttrMultiProcessorCount, id));
  int reads_pageable = 0;
  if (!code) code = settled(cudaDeviceGetAttribute(&reads_pageable, cudaDevAttrPageableMemoryAccess, id));
  if (code) return code;
  facts->reads_pageable = reads_pageable != 0;
  facts->compute = 10 * major + minor;
  return total_memory(id, &facts->memory);
}

int open_device(int32_t id, Device* device) {
  if (const int code = find_driver()) return code;
  const Uncaptured uncaptured;
  CUcontext before = nullptr, primary = nullptr;
  const bool has_driver = get_current.load()(&before) == CUDA_SUCCESS;  // fails before the driver is initialised
  int code = settled(cudaInitDevice(id, 0, 0));
  if (!code) code = settled(cudaSetDevice(id));
  if (!code) code = get_current.load()(&primary);
  if (!has_driver || set_current.load()(before) != CUDA_SUCCESS) set_current.load()(nullptr);
  *device = primary;
  return code;
}

int enter(Device device, bool* entered) {
  CUcontext current = nullptr;
  *entered = false;
  if (const int code = get_current.load()(&current)) return code;
  if (current == device) return 0;
  if (const int code = push_current.load()(static_cast<CUcontext>(device))) return code;
  *entered = true;
  return 0;
}

void leave(bool entered) {
  CUcontext ours = nullptr;
  if (entered) pop_current.load()(&ours);
}

// Pushes the context even if it is current already. So the pop also removes a context that has replaced it.
Apart set_apart(Device device) {
  const bool entered = push_current.load()(static_cast<CUcontext>(device)) == CUDA_SUCCESS;
  return {entered, exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED)};
}

void rejoin(const Apart& apart) {
  exchange_mode(apart.mode);
  leave(apart.entered);
}

int make_stream(Stream* stream) {
  const Uncaptured uncaptured;
  return settled(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
}

void destroy_stream(Stream stream) {
  const Uncaptured uncaptured;
  settled(cudaStreamDestroy(stream));
}

int stream_id(Stream stream, uint64_t* id) {
  unsigned long long found = 0;
  const int code = settled(cudaStreamGetId(stream, &found));
  *id = found;
  return code;
}

int make_pool(int32_t id, int64_t kept, Pool* pool) {
  const Uncaptured uncaptured;
  int is_supported = 0;
  int code = settled(cudaDeviceGetAttribute(&is_supported, cudaDevAttrMemoryPoolsSupported, id));
  if (code || !is_supported) return code;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, id};
  cudaMemPool_t made = nullptr;
  code = settled(cudaMemPoolCreate(&made, &properties));
  *pool = made;
  if (code) return code;
  uint64_t threshold = static_cast<uint64_t>(kept);
  return settled(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &threshold));
}

void destroy_pool(Pool pool) {
  const Uncaptured uncaptured;
  settled(cudaMemPoolDestroy(static_cast<cudaMemPool_t>(pool)));
}

int allocate_async(void** memory, int64_t bytes, Pool pool, Stream stream) {
  const Uncaptured uncaptured;
  const size_t size = static_cast<size_t>(bytes);
  if (!pool) return settled(cudaMalloc(memory, size));
  return settled(cudaMallocFromPoolAsync(memory, size, static_cast<cudaMemPool_t>(pool), stream));
}

int deallocate_async(void* memory, Pool pool, Stream stream) {
  const Uncaptured uncaptured;
  if (pool) return settled(cudaFreeAsync(memory, stream));
  const int code = settled(cudaStreamSynchronize(stream));
  return code ? code : settled(cudaFree(memory));
}

int zero_async(void* memory, int64_t bytes, Stream stream) {
  return settled(cudaMemsetAsync(memory, 0, static_cast<size_t>(bytes), stream));
}

int copy_async(void* to, const void* from, int64_t bytes, Stream stream) {
  return settled(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDefault, stream));
}

int synchronize(Stream stream) {
  const Uncaptured uncaptured;
  return settled(cudaStreamSynchronize(stream));
}

int is_capturing(Stream stream, bool* capturing) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const int code = settled(cudaStreamIsCapturing(stream, &status));
  *capturing = code == cudaErrorStreamCaptureImplicit || status != cudaStreamCaptureStatusNone;
  return code == cudaErrorStreamCaptureImplicit ? 0 : code;
}

int find_capture(Stream stream, uint64_t* id) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long found = 0;
  const int code = settled(cudaStreamGetCaptureInfo(stream, &status, &found));
  const bool is_usable = code == 0 && status != cudaStreamCaptureStatusInvalidated;
  *id = !is_usable ? implicit_capture : status == cudaStreamCaptureStatusActive ? found : 0;
  return code == cudaErrorStreamCaptureImplicit ? 0 : code;
}

int create_event(Stream stream, Event* event) {
  const Uncaptured uncaptured;
  CUcontext context = nullptr;
  if (get_stream_context.load()(stream, &context) != CUDA_SUCCESS) context = nullptr;  // uses the current one
  const Inside inside(context);
  cudaEvent_t made = nullptr;
  const int code = settled(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
  *event = made;
  return code;
}

void destroy_event(Event event) {
  const Uncaptured uncaptured;
  settled(cudaEventDestroy(static_cast<cudaEvent_t>(event)));
}

int record_event(Event event, Stream stream) {
  return settled(cudaEventRecord(static_cast<cudaEvent_t>(event), stream));
}

int wait_event(Stream stream, Event event) {
  return settled(cudaStreamWaitEvent(stream, static_cast<cudaEvent_t>(event), 0));
}

int query_event(Event event, bool* passed) {
  const Uncaptured uncaptured;
  const int code = settled(cudaEventQuery(static_cast<cudaEvent_t>(event)));
  *passed = code == 0;
  return code == cudaErrorNotReady ? 0 : code;
}

int reach(void* memory, bool* reached, void** there) {
  const Uncaptured uncaptured;
  cudaPointerAttributes attributes{};
  *reached = false;
  const int code = settled(cudaPointerGetAttributes(&attributes, memory));
  if (code) return code == cudaErrorInvalidValue ? 0 : code;
  const bool is_kind = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeHost;
  *reached = is_kind && attributes.devicePointer != nullptr;
  *there = attributes.devicePointer;
  return 0;
}

int device_of(const void* memory, int32_t* id, bool* is_known) {
  const Uncaptured uncaptured;
  const Unentered unentered;
  cudaPointerAttributes attributes{};
  *id = -1;
  *is_known = false;
  const int code = settled(cudaPointerGetAttributes(&attributes, memory));
  if (code) return code == cudaErrorInvalidValue ? 0 : code;
  *is_known = attributes.type != cudaMemoryTypeUnregistered;
  if (attributes.type == cudaMemoryTypeDevice) *id = attributes.device;
  return 0;
}

int retain_by_capture(Stream stream, void (*release)(void*), void* user) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  int code = settled(cudaStreamGetCaptureInfo(stream, &status, &id, &graph));
  cudaUserObject_t object = nullptr;
  if (!code) code = settled(cudaUserObjectCreate(&object, user, release, 1, cudaUserObjectNoDestructorSync));
  if (code) {
    release(user);
    return code;
  }
  code = settled(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  if (code) settled(cudaUserObjectRelease(object, 1));  // which calls release
  return code;
}

const char* error_name(int code) { return cudaGetErrorName(static_cast<cudaError_t>(code)); }

static_assert(code::no_memory == cudaErrorMemoryAllocation && code::not_initialized == cudaErrorInitializationError &&
              code::insufficient_driver == cudaErrorInsufficientDriver &&
              code::devices_unavailable == cudaErrorDevicesUnavailable &&
              code::invalid_device_function == cudaErrorInvalidDeviceFunction &&
              code::no_kernel_image == cudaErrorNoKernelImageForDevice &&
              code::no_jit == cudaErrorJitCompilerNotFound && code::unsupported_ptx == cudaErrorUnsupportedPtxVersion &&
              code::jit_disabled == cudaErrorJitCompilationDisabled &&
              code::system_not_ready == cudaErrorSystemNotReady &&
              code::system_driver_mismatch == cudaErrorSystemDriverMismatch &&
              code::first_of_captures == cudaErrorStreamCaptureUnsupported &&
              code::last_of_captures == cudaErrorStreamCaptureWrongThread);

}  // namespace gather::cuda::runtime
