#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "absent.hpp"

// Prints how CUDA behaves without the library, where its documentation is silent and the library depends on the
// behaviour. It does not evaluate the results. It exits with 77 if there is no device.
namespace {

using Clock = std::chrono::steady_clock;

void print(const std::string& what, const std::string& found) {
  std::printf("%-64s %s\n", what.c_str(), found.c_str());
  std::fflush(stdout);  // the next call may end the process
}

void head(const char* title) { print(std::string("\n") + title, ""); }

std::string name_of(cudaError_t code) { return std::to_string(code) + " " + cudaGetErrorName(code); }

// Runs a body on a thread that has never used CUDA.
void in_another_thread(const std::function<void()>& body) { std::thread(body).join(); }

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

constexpr auto held = std::chrono::milliseconds(300);

// Delays later work of the stream.
void hold(cudaStream_t stream) {
  cudaLaunchHostFunc(stream, [](void*) { std::this_thread::sleep_for(held); }, nullptr);
}

cudaStream_t make_stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, flags);
  return stream;
}

// ---- captures

// Objects for CUDA calls during a capture. They are created before the capture begins.
struct Things {
  cudaStream_t stream = make_stream();
  cudaStream_t spare = make_stream();
  cudaEvent_t event = nullptr, spare_event = nullptr;
  void *memory = nullptr, *spare_memory = nullptr, *pooled = nullptr, *pinned = nullptr;
  cudaMemPool_t pool = nullptr;
  char host[64] = {};

  Things() {
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&spare_event, cudaEventDisableTiming);
    cudaEventRecord(event, stream);
    cudaMalloc(&memory, 64);
    cudaMalloc(&spare_memory, 64);
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMallocFromPoolAsync(&pooled, 64, pool, stream);
    cudaHostAlloc(&pinned, 64, cudaHostAllocDefault);
    cudaStreamSynchronize(stream);
  }
};

struct Call {
  const char* name;
  cudaError_t (*run)(Things*);
};

const Call calls[] = {
    {"cudaMalloc",
     [](Things*) {
       void* out = nullptr;
       return cudaMalloc(&out, 64);
     }},
    {"cudaFree", [](Things* t) { return cudaFree(t->spare_memory); }},
    {"cudaMallocFromPoolAsync",
     [](Things* t) {
       void* out = nullptr;
       return cudaMallocFromPoolAsync(&out, 64, t->pool, t->stream);
     }},
    {"cudaMallocFromPoolAsync, 256 MiB",
     [](Things* t) {
       void* out = nullptr;
       return cudaMallocFromPoolAsync(&out, 256 << 20, t->pool, t->stream);
     }},
    {"cudaFreeAsync", [](Things* t) { return cudaFreeAsync(t->pooled, t->stream); }},
    {"cudaMemPoolCreate",
     [](Things*) {
       cudaMemPool_t out;
       cudaMemPoolProps p{};
       p.allocType = cudaMemAllocationTypePinned;
       p.location = {cudaMemLocationTypeDevice, 0};
       return cudaMemPoolCreate(&out, &p);
     }},
    {"cudaHostAlloc",
     [](Things*) {
       void* out = nullptr;
       return cudaHostAlloc(&out, 64, cudaHostAllocDefault);
     }},
    {"cudaFreeHost", [](Things* t) { return cudaFreeHost(t->pinned); }},
    {"cudaStreamCreateWithFlags",
     [](Things*) {
       cudaStream_t out;
       return cudaStreamCreateWithFlags(&out, cudaStreamNonBlocking);
     }},
    {"cudaStreamDestroy", [](Things* t) { return cudaStreamDestroy(t->spare); }},
    {"cudaStreamQuery, of another stream", [](Things* t) { return cudaStreamQuery(t->stream); }},
    {"cudaStreamSynchronize, of another stream", [](Things* t) { return cudaStreamSynchronize(t->stream); }},
    {"cudaStreamGetId, of another stream",
     [](Things* t) {
       unsigned long long id;
       return cudaStreamGetId(t->stream, &id);
     }},
    {"cudaStreamIsCapturing, of the legacy stream",
     [](Things*) {
       cudaStreamCaptureStatus s;
       return cudaStreamIsCapturing(nullptr, &s);
     }},
    {"cudaEventCreateWithFlags",
     [](Things*) {
       cudaEvent_t out;
       return cudaEventCreateWithFlags(&out, cudaEventDisableTiming);
     }},
    {"cudaEventDestroy", [](Things* t) { return cudaEventDestroy(t->spare_event); }},
    {"cudaEventRecord, in another stream", [](Things* t) { return cudaEventRecord(t->event, t->stream); }},
    {"cudaEventQuery, of another stream's", [](Things* t) { return cudaEventQuery(t->event); }},
    {"cudaEventSynchronize, of another stream's", [](Things* t) { return cudaEventSynchronize(t->event); }},
    {"cudaMemcpyAsync, in another stream",
     [](Things* t) { return cudaMemcpyAsync(t->memory, t->pinned, 64, cudaMemcpyDefault, t->stream); }},
    {"cudaMemcpyAsync to pageable memory, in another stream",
     [](Things* t) { return cudaMemcpyAsync(t->host, t->memory, 64, cudaMemcpyDefault, t->stream); }},
    {"cudaMemcpy", [](Things* t) { return cudaMemcpy(t->host, t->memory, 64, cudaMemcpyDefault); }},
    {"cudaMemsetAsync, in another stream", [](Things* t) { return cudaMemsetAsync(t->memory, 0, 64, t->stream); }},
    {"cudaPointerGetAttributes",
     [](Things* t) {
       cudaPointerAttributes a;
       return cudaPointerGetAttributes(&a, t->memory);
     }},
    {"cudaFuncGetAttributes, of a kernel that is not loaded",
     [](Things*) {
       static int number = 0;
       return ask_present(number++);
     }},
    {"cudaDeviceGetAttribute",
     [](Things*) {
       int v;
       return cudaDeviceGetAttribute(&v, cudaDevAttrMultiProcessorCount, 0);
     }},
    {"cudaGetDeviceCount",
     [](Things*) {
       int v;
       return cudaGetDeviceCount(&v);
     }},
    {"cudaDeviceSynchronize", [](Things*) { return cudaDeviceSynchronize(); }},
};

struct Mode {
  const char* name;
  cudaStreamCaptureMode mode;
};
const Mode capture_modes[] = {{"global", cudaStreamCaptureModeGlobal},
                              {"thread", cudaStreamCaptureModeThreadLocal},
                              {"relaxed", cudaStreamCaptureModeRelaxed}};
const Mode thread_modes[] = {{"global", cudaStreamCaptureModeGlobal}, {"relaxed", cudaStreamCaptureModeRelaxed}};

// Returns, for example, "0 whole": the error of the call, and whether the capture produced a graph.
std::string beside_capture(const Call& call, cudaStreamCaptureMode mode, cudaStreamCaptureMode own, bool same_thread) {
  Things things;
  const cudaStream_t captured = make_stream();
  cudaGetLastError();
  if (cudaStreamBeginCapture(captured, mode) != cudaSuccess) return "no capture";
  cudaMemsetAsync(things.memory, 0, 64, captured);
  cudaError_t code = cudaSuccess;
  const auto run = [&] {
    cudaStreamCaptureMode swapped = own;
    cudaThreadExchangeStreamCaptureMode(&swapped);
    code = call.run(&things);
    cudaThreadExchangeStreamCaptureMode(&swapped);
  };
  same_thread ? run() : in_another_thread(run);
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(captured, &graph);
  const bool is_whole = graph != nullptr;
  if (graph) cudaGraphDestroy(graph);
  cudaStreamDestroy(captured);
  cudaGetLastError();
  return std::to_string(code) + (is_whole ? " whole" : " ENDED");
}

static_assert(present_kernels == 2 * std::size(capture_modes) * std::size(thread_modes), "one for each table");

// Objects are leaked, because their release is under test.
void show_captures() {
  for (const bool same_thread : {true, false}) {
    for (const Mode& capture : capture_modes) {
      for (const Mode& own : thread_modes) {
        head((std::string("capture ") + capture.name + ", call from " + (same_thread ? "its" : "another") +
              " thread in mode " + own.name + ": error, capture")
                 .c_str());
        for (const Call& call : calls) print(call.name, beside_capture(call, capture.mode, own.mode, same_thread));
      }
    }
  }
}

// ---- per-thread streams

void show_streams_per_thread() {
  head("stream 0x2 of a thread, asked about on another while it is held");
  unsigned long long here = 0, there = 0;
  cudaStreamGetId(cudaStreamPerThread, &here);
  hold(cudaStreamPerThread);
  in_another_thread([&] {
    cudaSetDevice(0);
    cudaStreamGetId(cudaStreamPerThread, &there);
    print("cudaStreamGetId gives another number", here != there ? "yes" : "NO");
    print("cudaStreamQuery(0x2)", name_of(cudaStreamQuery(cudaStreamPerThread)));
    print("cudaStreamQuery(0x1)", name_of(cudaStreamQuery(cudaStreamLegacy)));
    cudaEvent_t event = nullptr;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventRecord(event, cudaStreamPerThread);
    print("an event recorded on 0x2", name_of(cudaEventQuery(event)));
    cudaEventRecord(event, cudaStreamLegacy);
    print("an event recorded on 0x1", name_of(cudaEventQuery(event)));
    const Clock::time_point begin = Clock::now();
    cudaStreamSynchronize(cudaStreamPerThread);
    print("cudaStreamSynchronize(0x2), seconds", std::to_string(seconds_since(begin)));
    cudaStreamSynchronize(cudaStreamLegacy);
    print("and then cudaStreamSynchronize(0x1)", std::to_string(seconds_since(begin)));
  });
  cudaDeviceSynchronize();
}

// ---- missing kernels

void show_absent_kernels() {
  head("kernels without code for the device: the error of a question, and of a launch");
  print("machine code of 12.0 alone", name_of(ask_absent_code()) + ", " + name_of(launch_absent_code()));
  print("PTX of 12.0 alone", name_of(ask_absent_ptx()) + ", " + name_of(launch_absent_ptx()));
  print("what is kept as the last error", name_of(cudaGetLastError()));
}

// ---- current devices

CUcontext current_context() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &found, 12000, cudaEnableDefault, &result);
  CUcontext now = nullptr;
  if (found) reinterpret_cast<CUresult (*)(CUcontext*)>(found)(&now);
  return now;
}

void show_current_devices() {
  head("does a thread that has no device have one after the call");
  Things things;
  int pageable = 0;
  const struct {
    const char* name;
    std::function<cudaError_t()> run;
  } each[] = {
      {"cudaGetDeviceCount",
       [] {
         int v;
         return cudaGetDeviceCount(&v);
       }},
      {"cudaDeviceGetAttribute",
       [] {
         int v;
         return cudaDeviceGetAttribute(&v, cudaDevAttrMultiProcessorCount, 0);
       }},
      {"cudaInitDevice", [] { return cudaInitDevice(0, 0, 0); }},
      {"cudaSetDevice", [] { return cudaSetDevice(0); }},
      {"cudaPointerGetAttributes, device memory",
       [&] {
         cudaPointerAttributes a;
         return cudaPointerGetAttributes(&a, things.memory);
       }},
      {"cudaPointerGetAttributes, pageable memory",
       [&] {
         cudaPointerAttributes a;
         return cudaPointerGetAttributes(&a, &pageable);
       }},
      {"cudaStreamGetId, a stream of its own",
       [&] {
         unsigned long long id;
         return cudaStreamGetId(things.stream, &id);
       }},
      {"cudaEventQuery", [&] { return cudaEventQuery(things.event); }},
      {"cudaStreamSynchronize", [&] { return cudaStreamSynchronize(things.stream); }},
      {"cudaFreeAsync", [&] { return cudaFreeAsync(things.pooled, things.stream); }},
  };
  for (const auto& one : each) {
    in_another_thread([&] {
      const bool before = current_context() != nullptr;
      const cudaError_t code = one.run();
      print(one.name, name_of(code) + (before ? ", had one" : current_context() ? ", HAS ONE" : ", none"));
    });
  }
}

// ---- errors, waits and releases

void show_last_errors() {
  head("what stays as the last error");
  Things things;
  cudaGetLastError();
  hold(things.stream);
  cudaEventRecord(things.event, things.stream);
  print("cudaEventQuery of one that has not passed",
        name_of(cudaEventQuery(things.event)) + ", kept: " + name_of(cudaGetLastError()));
  void* huge = nullptr;
  print("cudaMalloc of 2^50 bytes",
        name_of(cudaMalloc(&huge, size_t{1} << 50)) + ", kept: " + name_of(cudaGetLastError()));
  cudaStreamSynchronize(things.stream);
}

void show_waits() {
  head("what waits for a held stream, in seconds (it is held for 0.3)");
  Things things;
  const struct {
    const char* name;
    std::function<void()> run;
  } each[] = {
      {"cudaMemcpy to pageable memory, the stream being non-blocking",
       [&] { cudaMemcpy(things.host, things.memory, 64, cudaMemcpyDefault); }},
      {"cudaMemcpy from pageable memory", [&] { cudaMemcpy(things.memory, things.host, 64, cudaMemcpyDefault); }},
      {"cudaMemcpyAsync from pageable memory, in the stream",
       [&] { cudaMemcpyAsync(things.memory, things.host, 64, cudaMemcpyDefault, things.stream); }},
      {"cudaMemcpyAsync to pageable memory, in the stream",
       [&] { cudaMemcpyAsync(things.host, things.memory, 64, cudaMemcpyDefault, things.stream); }},
      {"cudaMalloc",
       [&] {
         void* out;
         cudaMalloc(&out, 64);
       }},
      {"cudaFree", [&] { cudaFree(things.spare_memory); }},
      {"cudaFreeAsync in another stream", [&] { cudaFreeAsync(things.pooled, things.spare); }},
      {"cudaStreamDestroy of another stream", [&] { cudaStreamDestroy(things.spare); }},
      {"cudaEventDestroy", [&] { cudaEventDestroy(things.spare_event); }},
  };
  for (const auto& one : each) {
    hold(things.stream);
    const Clock::time_point begin = Clock::now();
    one.run();
    print(one.name, std::to_string(seconds_since(begin)));
    cudaStreamSynchronize(things.stream);
  }
}

struct End {
  Clock::time_point begin;
  std::thread::id thread;
  std::atomic<bool> came{false};
  double seconds = 0;
  bool same_thread = false;
};

// Objects of a graph are released after the graph and its launches.
void show_ends_of_graphs() {
  head("a graph is destroyed while a launch of it runs (0.3 seconds)");
  const cudaStream_t stream = make_stream();
  End end;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  hold(stream);
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  cudaStreamGetCaptureInfo(stream, &status, &id, &graph);
  cudaUserObject_t object = nullptr;
  const auto note = [](void* user) {
    auto* self = static_cast<End*>(user);
    self->seconds = seconds_since(self->begin);
    self->same_thread = std::this_thread::get_id() == self->thread;
    self->came.store(true);
  };
  cudaUserObjectCreate(&object, &end, note, 1, cudaUserObjectNoDestructorSync);
  print("cudaGraphRetainUserObject while it is captured",
        name_of(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove)));
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  end.begin = Clock::now();
  end.thread = std::this_thread::get_id();
  cudaGraphLaunch(executable, stream);
  cudaGraphExecDestroy(executable);
  print("cudaGraphExecDestroy returned after", std::to_string(seconds_since(end.begin)));
  cudaStreamSynchronize(stream);
  for (int i = 0; i < 200 && !end.came.load(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  print("the user object's end came", !end.came.load()
                                          ? "NOT within two seconds"
                                          : "after " + std::to_string(end.seconds) +
                                                (end.same_thread ? ", on the same thread" : ", on another thread"));
}

// An event that was recorded in a capture does not become usable when the capture ends.
void show_events_of_captures() {
  head("an event that was recorded in a capture that has ended");
  const cudaStream_t stream = make_stream();
  const Things things;
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  cudaEventRecord(things.event, stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphDestroy(graph);
  print("cudaEventQuery", name_of(cudaEventQuery(things.event)));
  print("cudaStreamWaitEvent", name_of(cudaStreamWaitEvent(things.stream, things.event, 0)));
  print("cudaEventRecord", name_of(cudaEventRecord(things.event, stream)));
}

void show_other_devices(int count) {
  head("two devices");
  if (count < 2) return print("not asked: there is one device", "");
  cudaSetDevice(1);
  const cudaStream_t far = make_stream();
  cudaSetDevice(0);
  Things things;
  print("cudaMemsetAsync in a stream of another device", name_of(cudaMemsetAsync(things.memory, 0, 64, far)));
  print("cudaEventRecord in a stream of another device", name_of(cudaEventRecord(things.event, far)));
  print("cudaStreamWaitEvent by a stream of another device", name_of(cudaStreamWaitEvent(far, things.event, 0)));
  print("cudaFreeAsync in a stream of another device", name_of(cudaFreeAsync(things.pooled, far)));
  in_another_thread([] {
    cudaSetDevice(1);
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result;
    cudaGetDriverEntryPointByVersion("cuCtxSetCurrent", &found, 12000, cudaEnableDefault, &result);
    reinterpret_cast<CUresult (*)(CUcontext)>(found)(nullptr);
    int device = -1;
    cudaGetDevice(&device);
    print("cudaGetDevice after cudaSetDevice(1) and cuCtxSetCurrent(NULL)", std::to_string(device));
  });
}

}  // namespace

int main() {
  int count = 0, driver = 0;
  cudaDriverGetVersion(&driver);
  const cudaError_t code = cudaGetDeviceCount(&count);
  print("CUDA of the driver, of this program", std::to_string(driver) + ", " + std::to_string(CUDART_VERSION));
  print("cudaGetDeviceCount", name_of(code) + ", " + std::to_string(count) + " devices");
  if (code != cudaSuccess || count == 0) {
    std::printf("there is no CUDA device\n");
    return 77;
  }
  show_current_devices();  // before this thread makes a device current
  show_streams_per_thread();
  show_absent_kernels();
  show_last_errors();
  show_waits();
  show_ends_of_graphs();
  show_events_of_captures();
  show_other_devices(count);
  show_captures();
  return 0;
}
