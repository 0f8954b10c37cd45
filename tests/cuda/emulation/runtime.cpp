#include "cuda/runtime.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "machine.hpp"

namespace emulation {

// A capture: of the stream that it began on, and of those that were made to wait for what it has captured.
struct Capture {
  CUstream_st* origin;
  uint64_t id;
  bool spoiled = false;
  std::vector<std::function<void()>> recorded;
  std::set<CUstream_st*> unjoined;  // have got work that nothing in the capture waits for
  std::vector<std::function<void()>> retained;
};

}  // namespace emulation

struct CUstream_st {
  int32_t device = 0;
  bool held = false;
  bool is_blocking = false;
  emulation::Capture* capture = nullptr;
  std::vector<std::function<void()>> waiting;  // of a held stream
};

namespace emulation {
namespace {

constexpr int32_t devices = 2;
constexpr uint64_t implicit_capture = UINT64_MAX;

struct Device {
  int32_t id;
};
Device all_devices[devices] = {{0}, {1}};

struct Event {
  int32_t device = 0;
  CUstream_st* stream = nullptr;
  uint64_t capture = 0;  // recorded inside that one
  bool passed = true;
  bool orphaned = false;  // destroyed before its stream came to it
};

struct Graph {
  std::vector<std::function<void()>> work;
  std::vector<std::function<void()>> retained;
};

// What a graph has kept goes, where CUDA must not be used.
thread_local bool in_callback = false;
void let_go(const std::vector<std::function<void()>>& retained) {
  in_callback = true;
  for (const std::function<void()>& release : retained) release();
  in_callback = false;
}

struct Machine {
  std::recursive_mutex lock;
  CUstream_st default_stream[devices];
  uint64_t captures = 0;
  std::set<Capture*> capturing;
  std::map<uintptr_t, uintptr_t> memory;  // begin, end
  std::map<uintptr_t, int32_t> places;    // of memory, its device; -1: any
  std::map<uintptr_t, uintptr_t> described;
  std::map<uintptr_t, uintptr_t> library;  // of memory, what the library has allocated
  int64_t violations = 0, launches = 0, calls = 0, failing = 0;
  int32_t failure = 0;
  pid_t process = getpid();
  uint32_t seed = 0;
  void (*between)(void*, uint32_t) = nullptr;
  void* between_user = nullptr;
};

Machine& machine() {
  static Machine& one = *[] {
    auto* made = new Machine;
    for (int32_t id = 0; id < devices; ++id) made->default_stream[id].device = id;
    return made;
  }();
  return one;
}

thread_local Device* current = nullptr;
thread_local std::vector<Device*> entered;  // what was current before each enter()
thread_local int apart = 0;                 // how often set_apart() has been called

// Never destroyed: at exit streams of threads may still have something to run.
std::vector<CUstream_st*>& streams = *new std::vector<CUstream_st*>;

bool is_special(CUstream_st* stream) { return reinterpret_cast<uintptr_t>(stream) <= 2; }
bool is_legacy(CUstream_st* stream) { return reinterpret_cast<uintptr_t>(stream) <= 1; }

// The streams per thread, by device. They outlive their threads: what they were given may still have to run.
thread_local CUstream_st* thread_streams[devices] = {};

// As CUDA's runtime does: where a thread has no device, a call makes the first one its own, and it stays.
Device& need_current() {
  if (!current) current = &all_devices[0];
  return *current;
}

CUstream_st* make_stream(int32_t device, bool is_blocking) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  auto* stream = new CUstream_st;
  stream->device = device;
  stream->is_blocking = is_blocking;
  streams.push_back(stream);
  return stream;
}

CUstream_st* find_stream(CUstream_st* stream) {
  if (!is_special(stream)) return stream;
  const int32_t device = need_current().id;
  if (is_legacy(stream)) return &machine().default_stream[device];
  if (!thread_streams[device]) thread_streams[device] = make_stream(device, true);
  return thread_streams[device];
}

// The capture of a stream; implicit_capture: the legacy stream, which cannot be used beside that of a blocking one.
uint64_t capture_of(CUstream_st* given) {
  const CUstream_st* stream = find_stream(given);
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

// What CUDA thinks unsafe while anything is captured, unless the thread is allowed to.
int enter_unsafe() {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  if (apart > 0 || machine().capturing.empty()) return 0;
  spoil(implicit_capture);
  return capture_unsupported;
}

void run_waiting(CUstream_st* stream) {
  while (!stream->waiting.empty()) {
    const std::function<void()> work = stream->waiting.front();
    stream->waiting.erase(stream->waiting.begin());
    work();
  }
}

// What comes before anything that a stream is given now: for the legacy stream all blocking ones, for them the legacy one.
void run_what_is_before(CUstream_st* stream) {
  CUstream_st* legacy = &machine().default_stream[stream->device];
  if (stream->is_blocking) run_waiting(legacy);
  if (stream != legacy) return;
  const std::vector<CUstream_st*> all = streams;
  for (CUstream_st* each : all) {
    if (each->device == stream->device && each->is_blocking) run_waiting(each);
  }
}

// In a stream that is not captured.
void give(CUstream_st* stream, std::function<void()> work) {
  const auto in_order = [stream, work = std::move(work)] {
    run_what_is_before(stream);
    work();
  };
  if (stream->held)
    stream->waiting.push_back(in_order);
  else
    in_order();
}

void* allocate_memory(int64_t bytes, int32_t device) {
  void* memory = nullptr;
  if (bytes > int64_t{1} << 40 || posix_memalign(&memory, 256, static_cast<size_t>(bytes ? bytes : 1))) return nullptr;
  std::memset(memory, 0xcd, static_cast<size_t>(bytes));
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  machine().memory[begin] = begin + static_cast<uintptr_t>(bytes ? bytes : 1);
  machine().places[begin] = device;
  return memory;
}

bool free_memory(void* memory) {
  Machine& all = machine();
  const std::lock_guard<std::recursive_mutex> guard(all.lock);
  const auto found = all.memory.find(reinterpret_cast<uintptr_t>(memory));
  if (found == all.memory.end()) return false;
  all.described.erase(all.described.lower_bound(found->first), all.described.lower_bound(found->second));
  all.library.erase(found->first);
  all.places.erase(found->first);
  all.memory.erase(found);
  std::free(memory);
  return true;
}

bool contains(const std::map<uintptr_t, uintptr_t>& ranges, uintptr_t begin, uintptr_t end) {
  auto after = ranges.upper_bound(begin);
  return after != ranges.begin() && end <= std::prev(after)->second;
}

}  // namespace

int enter_call() {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  if (machine().process != getpid()) return not_initialized;
  if (in_callback) std::abort();
  ++machine().calls;
  return machine().failing > 0 && --machine().failing == 0 ? machine().failure : 0;
}

int enqueue(CUstream_st* given, std::function<void()> work) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  CUstream_st* stream = find_stream(given);
  if (stream->device != need_current().id) return invalid_handle;
  if (const uint64_t id = capture_of(given)) {
    if (id == implicit_capture) {
      spoil(id);
      return capture_implicit;
    }
    stream->capture->recorded.push_back(std::move(work));
    if (stream != stream->capture->origin) stream->capture->unjoined.insert(stream);
  } else {
    give(stream, std::move(work));
  }
  return 0;
}

void touch(const void* address, uint64_t bytes) {
  Machine& all = machine();
  const uintptr_t begin = reinterpret_cast<uintptr_t>(address);
  if (begin % bytes != 0) ++all.violations;
  if (all.described.empty()) return;
  if (!contains(all.described, begin, begin + bytes) && !contains(all.library, begin, begin + bytes)) ++all.violations;
}

bool reaches(const void* address, uint64_t bytes) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(address);
  return contains(machine().memory, begin, begin + bytes);
}

bool is_of_library(const void* address) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(address);
  return contains(machine().library, begin, begin + 1);
}

void count_violation(const char* what) {
  if (machine().violations++ < 10) std::fprintf(stderr, "violation: %s\n", what);
}

void before_copying(uint32_t block) {
  if (machine().between) machine().between(machine().between_user, block);
}

uint32_t seed() { return machine().seed; }
void count_launch() { ++machine().launches; }

}  // namespace emulation

namespace gather::cuda::runtime {

using emulation::enqueue;
using emulation::enter_call;
using emulation::find_stream;
using emulation::machine;

int32_t version() { return 13000; }
int32_t driver_version() { return 13000; }

int device_count(int32_t* count) {
  *count = emulation::devices;
  return enter_call();
}

int device_facts(int32_t, DeviceFacts* facts) {
  *facts = {90, 3, int64_t{1} << 40};
  return enter_call();
}

int open_device(int32_t id, Device* device) {
  *device = &emulation::all_devices[id];
  return enter_call();
}

int enter(Device device, bool* entered) {
  *entered = false;
  if (const int code = enter_call()) return code;
  *entered = emulation::current != device;
  if (*entered) emulation::entered.push_back(emulation::current);
  emulation::current = static_cast<emulation::Device*>(device);
  return 0;
}

Apart set_apart(Device device) {
  emulation::entered.push_back(emulation::current);
  emulation::current = static_cast<emulation::Device*>(device);
  ++emulation::apart;
  return {true, 0};
}

void rejoin(const Apart&) {
  leave(true);
  --emulation::apart;
}

void leave(bool entered) {
  if (!entered) return;
  emulation::current = emulation::entered.back();
  emulation::entered.pop_back();
}

namespace {

int allocate(void** memory, int64_t bytes) {
  if (const int code = enter_call()) return code;
  *memory = emulation::allocate_memory(bytes, emulation::need_current().id);
  if (!*memory) return emulation::out_of_memory;
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(*memory);
  machine().library[begin] = begin + static_cast<uintptr_t>(bytes);
  return 0;
}

}  // namespace

int make_stream(Stream* stream) {
  if (const int code = enter_call()) return code;
  *stream = emulation::make_stream(emulation::need_current().id, false);
  return 0;
}

void destroy_stream(Stream stream) { gth_emulation_destroy_stream(stream); }

int stream_id(Stream stream, uint64_t* id) {
  *id = reinterpret_cast<uintptr_t>(find_stream(stream));
  return enter_call();
}

int make_pool(int32_t, int64_t kept, Pool* pool) {
  if (const int code = enter_call()) return code;
  *pool = new int64_t(kept);
  return 0;
}

void destroy_pool(Pool pool) { delete static_cast<int64_t*>(pool); }

int allocate_async(void** memory, int64_t bytes, Pool pool, Stream stream) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  if (emulation::capture_of(stream)) return emulation::capture_unsupported;
  if (!pool) return emulation::invalid_value;
  return allocate(memory, bytes);
}

int deallocate_async(void* memory, Pool pool, Stream stream) {
  if (const int code = enter_call()) return code;
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  if (!pool || emulation::capture_of(stream)) return emulation::invalid_value;
  return enqueue(stream, [memory] {
    if (!emulation::free_memory(memory)) std::abort();
  });
}

int zero_async(void* memory, int64_t bytes, Stream stream) {
  if (const int code = enter_call()) return code;
  return enqueue(stream, [=] { std::memset(memory, 0, static_cast<size_t>(bytes)); });
}

// To pageable memory it waits.
int copy_async(void* to, const void* from, int64_t bytes, Stream stream) {
  if (const int code = enter_call()) return code;
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  const bool waits = !emulation::reaches(to, static_cast<uint64_t>(bytes)) && !emulation::capture_of(stream);
  const int code = enqueue(stream, [=] { std::memcpy(to, from, static_cast<size_t>(bytes)); });
  if (waits) emulation::run_waiting(find_stream(stream));
  return code;
}

int synchronize(Stream given) {
  if (const int code = enter_call()) return code;
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  if (const uint64_t id = emulation::capture_of(given)) {
    emulation::spoil(id);
    return emulation::capture_unsupported;
  }
  emulation::run_what_is_before(find_stream(given));
  emulation::run_waiting(find_stream(given));
  return 0;
}

int is_capturing(Stream stream, bool* capturing) {
  uint64_t id = 0;
  const int code = find_capture(stream, &id);
  *capturing = id != 0;
  return code;
}

int find_capture(Stream stream, uint64_t* id) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  *id = emulation::capture_of(stream);
  return enter_call();
}

int create_event(Stream stream, Event* event) {
  if (const int code = enter_call()) return code;
  auto* made = new emulation::Event;
  made->device = find_stream(stream)->device;
  *event = made;
  return 0;
}

// Work that was enqueued may still mean to mark it.
void destroy_event(Event event) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  auto* self = static_cast<emulation::Event*>(event);
  if (self->passed)
    delete self;
  else
    self->orphaned = true;
}

namespace {

int enqueue_mark(emulation::Event* event, CUstream_st* stream) {
  const auto pass = [event] {
    event->passed = true;
    if (event->orphaned) delete event;
  };
  event->passed = false;
  emulation::give(stream, pass);
  return 0;
}

}  // namespace

int record_event(Event event, Stream given) {
  if (const int code = enter_call()) return code;
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  auto* self = static_cast<emulation::Event*>(event);
  CUstream_st* stream = find_stream(given);
  if (stream->device != self->device) return emulation::invalid_handle;
  self->stream = stream;
  self->capture = emulation::capture_of(given);
  if (self->capture == emulation::implicit_capture) {
    emulation::spoil(self->capture);
    return emulation::capture_implicit;
  }
  return self->capture ? 0 : enqueue_mark(self, stream);
}

namespace {

// What a capture captures is in one line here, so that there is nothing to do but to note who belongs to it.
int wait_captured(Stream given, CUstream_st* stream, const emulation::Event& event) {
  const uint64_t id = emulation::capture_of(given);
  if (event.capture == 0 || (id != 0 && id != event.capture) || (id == 0 && emulation::is_legacy(given))) {
    emulation::spoil(id);
    emulation::spoil(event.capture);
    return event.capture == 0 ? emulation::capture_isolation : emulation::capture_merge;
  }
  emulation::Capture* capture = event.stream->capture;
  stream->capture = capture;
  capture->unjoined.erase(event.stream);
  if (stream != capture->origin) capture->unjoined.insert(stream);
  return 0;
}

}  // namespace

int wait_event(Stream stream, Event event) {
  if (const int code = enter_call()) return code;
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  auto* self = static_cast<emulation::Event*>(event);
  CUstream_st* waiter = find_stream(stream);
  if (self->capture || emulation::capture_of(stream)) return wait_captured(stream, waiter, *self);
  if (self->passed) return 0;
  CUstream_st* recorder = self->stream;
  emulation::give(waiter, [recorder] { emulation::run_waiting(recorder); });
  return 0;
}

int query_event(Event event, bool* passed) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  *passed = static_cast<emulation::Event*>(event)->passed;
  return enter_call();
}

int reach(void* memory, bool* reached, void** there) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  *reached = emulation::contains(machine().memory, begin, begin + 1);
  *there = memory;
  return enter_call();
}

int device_of(const void* memory, int32_t* id) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  const auto after = machine().places.upper_bound(reinterpret_cast<uintptr_t>(memory));
  *id = -1;
  if (after != machine().places.begin() && emulation::reaches(memory, 1)) *id = std::prev(after)->second;
  return enter_call();
}

int retain_by_capture(Stream stream, void (*release)(void*), void* user) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  if (const int code = enter_call()) {
    release(user);
    return code;
  }
  find_stream(stream)->capture->retained.push_back([=] { release(user); });
  return 0;
}

const char* error_name(int) { return "an emulated error"; }
}  // namespace gather::cuda::runtime

using namespace emulation;

void* gth_emulation_allocate(int64_t bytes) { return enter_unsafe() ? nullptr : allocate_memory(bytes, -1); }
void* gth_emulation_allocate_on(int32_t device, int64_t bytes) {
  return enter_unsafe() ? nullptr : allocate_memory(bytes, device);
}
void gth_emulation_free(void* memory) {
  enter_unsafe();
  if (memory && !free_memory(memory)) std::abort();
}
void* gth_emulation_allocate_host(int64_t bytes) { return enter_unsafe() ? nullptr : allocate_memory(bytes, -1); }

CUstream_st* gth_emulation_make_stream(int32_t device) { return make_stream(device, false); }

void gth_emulation_destroy_stream(CUstream_st* stream) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  run_waiting(stream);
  for (size_t i = 0; i < streams.size(); ++i) {
    if (streams[i] == stream) streams.erase(streams.begin() + static_cast<std::ptrdiff_t>(i));
  }
  delete stream;
}

void gth_emulation_block(CUstream_st* stream) { stream->is_blocking = true; }

void gth_emulation_hold(CUstream_st* stream) { find_stream(stream)->held = true; }

int gth_emulation_synchronize(CUstream_st* stream) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  run_what_is_before(find_stream(stream));
  run_waiting(find_stream(stream));
  return 0;
}

void gth_emulation_begin_capture(CUstream_st* stream) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  stream->capture = new Capture{stream, ++machine().captures, false, {}, {}, {}};
  machine().capturing.insert(stream->capture);
}

void* gth_emulation_end_capture(CUstream_st* stream) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  Capture* capture = stream->capture;
  machine().capturing.erase(capture);
  stream->capture = nullptr;
  for (CUstream_st* each : streams) {
    if (each->capture == capture) each->capture = nullptr;
  }
  const bool is_whole = !capture->spoiled && capture->unjoined.empty();
  void* graph = is_whole ? new Graph{std::move(capture->recorded), std::move(capture->retained)} : nullptr;
  if (!is_whole) let_go(capture->retained);
  delete capture;
  return graph;
}

void gth_emulation_launch(void* graph, CUstream_st* stream) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  for (const std::function<void()>& work : static_cast<Graph*>(graph)->work) {
    give(find_stream(stream), work);
  }
}

void gth_emulation_destroy_graph(void* graph) {
  auto* self = static_cast<Graph*>(graph);
  let_go(self->retained);
  delete self;
}

void gth_emulation_describe(const void* memory, int64_t bytes) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  machine().described[begin] = begin + static_cast<uintptr_t>(bytes);
}
void gth_emulation_forget_described() { machine().described.clear(); }
int64_t gth_emulation_violations() { return machine().violations; }

void gth_emulation_between(void (*call)(void*, uint32_t), void* user) {
  machine().between = call;
  machine().between_user = user;
}
void gth_emulation_shuffle(uint32_t seed) { machine().seed = seed; }
int64_t gth_emulation_launches() { return machine().launches; }
int64_t gth_emulation_live_allocations() { return static_cast<int64_t>(machine().memory.size()); }
void gth_emulation_fail(int64_t n, int32_t code) {
  machine().calls = 0;
  machine().failing = n;
  machine().failure = code;
}
int64_t gth_emulation_calls() { return machine().calls; }
int32_t gth_emulation_current() { return current ? current->id : -1; }
void gth_emulation_set_current(int32_t device) { current = device < 0 ? nullptr : &all_devices[device]; }
