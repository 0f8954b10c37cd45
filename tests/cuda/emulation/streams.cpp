#include <algorithm>
#include <utility>

#include "state.hpp"

// Streams and events.
namespace emulation {
namespace {

bool is_special(CUstream_st* stream) { return reinterpret_cast<uintptr_t>(stream) <= 2; }

// The per-thread streams by device. They outlive their threads, because their work may still have to run.
thread_local CUstream_st* thread_streams[devices] = {};

Given take_first(CUstream_st* stream) {
  const Given first = stream->waiting.front();
  stream->waiting.erase(stream->waiting.begin());
  return first;
}

// Work that may overlap the first one starts before it. The first one runs where the other waits for it.
void run_first(CUstream_st* stream) {
  const Given first = take_first(stream);
  if (stream->waiting.empty() || !stream->waiting.front().overlaps) return first.work();
  const Given next = take_first(stream);
  machine().previous = first.work;
  next.work();
  run_previous();
}

std::vector<CUstream_st*> blocking_streams(int32_t device) {
  std::vector<CUstream_st*> result;
  for (CUstream_st* each : machine().streams) {
    if (each->device == device && each->is_blocking) result.push_back(each);
  }
  return result;
}

// The next work of a stream is also ordered with the legacy stream.
void advance(CUstream_st* stream) {
  CUstream_st* legacy = &machine().default_stream[stream->device];
  if (stream->is_blocking) join(&stream->clock, legacy->clock);
  if (stream == legacy) {
    for (const CUstream_st* each : blocking_streams(stream->device)) join(&stream->clock, each->clock);
  }
  stream->clock[stream->id] = ++stream->time;
}

}  // namespace

bool is_legacy(CUstream_st* stream) { return reinterpret_cast<uintptr_t>(stream) <= 1; }

CUstream_st* make_stream(int32_t device, bool is_blocking) {
  const Guard guard(machine().lock);
  auto* stream = new CUstream_st;
  stream->device = device;
  stream->id = ++machine().streams_made;
  stream->is_blocking = is_blocking;
  machine().streams.push_back(stream);
  return stream;
}

void destroy_stream(CUstream_st* stream) {
  const Guard guard(machine().lock);
  run_waiting(stream);
  std::vector<CUstream_st*>& all = machine().streams;
  all.erase(std::remove(all.begin(), all.end(), stream), all.end());
  delete stream;
}

CUstream_st* find_stream(CUstream_st* stream) {
  if (!is_special(stream)) {
    const std::vector<CUstream_st*>& all = machine().streams;
    if (std::find(all.begin(), all.end(), stream) != all.end()) return stream;
    count_violation("a stream is used that has been destroyed");
    return &machine().default_stream[need_current()->device];
  }
  const int32_t device = need_current()->device;
  if (is_legacy(stream)) return &machine().default_stream[device];
  if (!thread_streams[device]) thread_streams[device] = make_stream(device, true);
  return thread_streams[device];
}

void run_waiting(CUstream_st* stream) {
  while (!stream->waiting.empty()) run_first(stream);
}

void run_what_is_before(CUstream_st* stream) {
  CUstream_st* legacy = &machine().default_stream[stream->device];
  if (stream->is_blocking) run_waiting(legacy);
  if (stream != legacy) return;
  for (CUstream_st* each : blocking_streams(stream->device)) run_waiting(each);
}

void run_previous() {
  if (const Work previous = std::exchange(machine().previous, nullptr)) previous();
}

bool lets_overlap() { return machine().compiled_for >= 90; }

void give(CUstream_st* stream, Work work, bool overlaps) {
  advance(stream);
  const auto in_order = [stream, clock = stream->clock, work = std::move(work)] {
    run_what_is_before(stream);
    const Running running(stream->id, clock);
    work();
  };
  if (stream->held)
    stream->waiting.push_back({in_order, overlaps});
  else
    in_order();
}

void wait_for(CUstream_st* stream) {
  run_what_is_before(stream);
  run_waiting(stream);
  advance(stream);
  settle(Clock(stream->clock));
}

void settle(const Clock& known) {
  for (CUstream_st* each : machine().streams) forget(&each->clock, known);
  for (CUstream_st& each : machine().default_stream) forget(&each.clock, known);
  for (auto& [begin, memory] : machine().memory) {
    forget(&memory.born, known);
    forget(&memory.used, known);
  }
}

int enqueue(CUstream_st* given, Work work, bool overlaps) {
  const Guard guard(machine().lock);
  machine().overlaps += overlaps;
  CUstream_st* stream = find_stream(given);
  if (stream->device != need_current()->device) return cudaErrorInvalidResourceHandle;
  const uint64_t id = capture_of(given);
  if (id == implicit_capture) {
    spoil(id);
    return cudaErrorStreamCaptureImplicit;
  }
  if (id == 0) {
    give(stream, std::move(work), overlaps);
    return 0;
  }
  // Some queries on a captured graph return an error for this kind of edge.
  if (overlaps) count_violation("an edge in a caller's graph that is not a plain one");
  if (stream->capture->spoiled) return cudaErrorStreamCaptureInvalidated;
  stream->capture->graph->work.push_back(std::move(work));
  if (stream != stream->capture->origin) stream->capture->unjoined.insert(stream);
  return 0;
}

namespace {

Capture* active_capture(uint64_t id) {
  for (Capture* each : machine().capturing) {
    if (each->id == id) return each;
  }
  return nullptr;
}

// A capture runs its work in one order, so only the members of the capture are recorded.
int wait_captured(CUstream_st* given, CUstream_st* stream, const CUevent_st& event) {
  const uint64_t id = capture_of(given);
  if (event.capture == 0 || (id != 0 && id != event.capture) || (id == 0 && is_legacy(given))) {
    spoil(id);
    spoil(event.capture);
    return event.capture == 0 ? cudaErrorStreamCaptureIsolation : cudaErrorStreamCaptureMerge;
  }
  Capture* capture = active_capture(event.capture);
  if (!capture) return cudaErrorCapturedEvent;
  stream->capture = capture;
  capture->unjoined.erase(event.stream);
  if (stream != capture->origin) capture->unjoined.insert(stream);
  return 0;
}

void wait_uncaptured(CUstream_st* stream, const CUevent_st& event) {
  join(&stream->clock, event.mark->clock);
  if (event.mark->passed) return;
  give(stream, [recorder = event.stream, mark = event.mark] {
    while (!mark->passed) run_first(recorder);
  });
}

}  // namespace
}  // namespace emulation

using namespace emulation;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return call(Safety::unsafe, [&] {
    *stream = make_stream(current()->device, !(flags & cudaStreamNonBlocking));
    return 0;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call_surely([&] {
    destroy_stream(stream);
    return 0;
  });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return call(Safety::of_stream, [&] {
    *id = find_stream(stream)->id;
    return 0;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call(Safety::unsafe, [&]() -> int {
    if (const uint64_t id = capture_of(stream)) {
      spoil(id);
      return id == implicit_capture ? cudaErrorStreamCaptureImplicit : cudaErrorStreamCaptureUnsupported;
    }
    wait_for(find_stream(stream));
    return 0;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  return call(Safety::of_stream, [&] {
    CUstream_st* waiter = find_stream(stream);
    if (event->capture || capture_of(stream)) return wait_captured(stream, waiter, *event);
    if (event->mark) wait_uncaptured(waiter, *event);
    return 0;
  });
}

// The event belongs to the current device. It cannot be recorded on streams of other devices.
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  return call(Safety::unsafe, [&] {
    *event = new CUevent_st;
    (*event)->device = current()->device;
    return 0;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call_surely([&] {
    delete event;
    return 0;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t given) {
  return call(Safety::of_stream, [&]() -> int {
    CUstream_st* stream = find_stream(given);
    if (stream->device != event->device) return cudaErrorInvalidResourceHandle;
    const uint64_t capture = capture_of(given);
    if (capture == implicit_capture) {
      spoil(capture);
      return cudaErrorStreamCaptureImplicit;
    }
    event->stream = stream;
    event->capture = capture;
    if (capture) return 0;
    event->mark = std::make_shared<Mark>();
    give(stream, [mark = event->mark] { mark->passed = true; });
    event->mark->clock = stream->clock;
    return 0;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call(Safety::unsafe, [&]() -> int {
    if (event->capture) {
      spoil(event->capture);
      return cudaErrorCapturedEvent;
    }
    if (event->mark && !event->mark->passed) return cudaErrorNotReady;
    if (event->mark) settle(event->mark->clock);
    return 0;
  });
}
