#include <algorithm>

#include "state.hpp"

// Captures and the graphs made from them.
namespace emulation {

uint64_t capture_of(CUstream_st* given) {
  const CUstream_st* stream = find_stream(given);
  if (stream->capture && stream->capture->thread != &this_thread())
    count_violation("a stream is used that another thread is capturing");
  if (stream->capture) return stream->capture->id;
  for (const Capture* each : machine().capturing) {
    const bool is_beside = each->origin->is_blocking && each->origin->device == stream->device;
    if (is_legacy(given) && is_beside) return implicit_capture;
  }
  return 0;
}

void spoil(uint64_t id) {
  for (Capture* each : machine().capturing) each->spoiled |= each->id == id || id == implicit_capture;
}

int forbid_beside_captures() {
  const Guard guard(machine().lock);
  const Thread& thread = this_thread();
  if (thread.mode == CU_STREAM_CAPTURE_MODE_RELAXED) return 0;
  bool is_forbidden = false;
  for (Capture* each : machine().capturing) {
    const bool is_own = each->thread == &thread && each->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    const bool is_of_all = each->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread.mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!is_own && !is_of_all) continue;
    each->spoiled = is_forbidden = true;
  }
  return is_forbidden ? cudaErrorStreamCaptureUnsupported : 0;
}

void let_go(const std::vector<CUuserObject_st*>& retained) {
  this_thread().is_in_callback = true;
  for (CUuserObject_st* each : retained) {
    each->destroy(each->user);
    delete each;
  }
  this_thread().is_in_callback = false;
}

namespace {

// Returns the state and the number of the stream's capture. A query invalidates nothing.
int ask(CUstream_st* given, cudaStreamCaptureStatus* status) {
  if (capture_of(given) == implicit_capture) return cudaErrorStreamCaptureImplicit;
  const Capture* capture = find_stream(given)->capture;
  *status = !capture           ? cudaStreamCaptureStatusNone
            : capture->spoiled ? cudaStreamCaptureStatusInvalidated
                               : cudaStreamCaptureStatusActive;
  return 0;
}

}  // namespace
}  // namespace emulation

using namespace emulation;

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call(Safety::of_stream, [&] { return ask(stream, status); });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t**, const cudaGraphEdgeData**, size_t*) {
  return call(Safety::of_stream, [&] {
    const int code = ask(stream, status);
    if (code || *status != cudaStreamCaptureStatusActive) return code;
    if (id) *id = find_stream(stream)->capture->id;
    if (graph) *graph = find_stream(stream)->capture->graph;
    return 0;
  });
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* user, cudaHostFn_t destroy, unsigned int count,
                                 unsigned int flags) {
  if (const int code = enter_call()) return keep(code);
  if (count != 1 || flags != cudaUserObjectNoDestructorSync) return keep(cudaErrorInvalidValue);
  *object = new CUuserObject_st{destroy, user};
  return cudaSuccess;
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int) {
  let_go({object});
  return cudaSuccess;
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int, unsigned int flags) {
  const Guard guard(machine().lock);
  if (const int code = enter_call()) return keep(code);
  if (!graph || flags != cudaGraphUserObjectMove) return keep(cudaErrorInvalidValue);
  graph->retained.push_back(object);
  return cudaSuccess;
}
