#include "cuda/runtime.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

#include "machine.hpp"

struct CUstream_st {
  int32_t device = 0;
  bool held = false;
  bool capturing = false;
  bool spoiled = false;
  std::vector<std::function<void()>> waiting;   // of a held stream
  std::vector<std::function<void()>> recorded;  // of a captured one
};

namespace emulation {
namespace {

constexpr int32_t devices = 2;

struct Device {
  int32_t id;
};
Device all_devices[devices] = {{0}, {1}};

struct Event {
  CUstream_st* stream = nullptr;
  bool passed = true;
  bool orphaned = false;  // destroyed before its stream came to it
};

struct Graph {
  std::vector<std::function<void()>> work;
};

struct Machine {
  std::recursive_mutex lock;
  CUstream_st default_stream;
  std::map<uintptr_t, uintptr_t> memory;  // begin, end
  std::map<uintptr_t, uintptr_t> described;
  std::map<uintptr_t, uintptr_t> library;  // of memory, what the library has allocated
  int64_t violations = 0, launches = 0, calls = 0, failing = 0;
  int32_t failure = 0;
  uint32_t seed = 0;
  void (*between)(void*, uint32_t) = nullptr;
  void* between_user = nullptr;
};

Machine& machine() {
  static Machine& one = *new Machine;
  return one;
}

thread_local Device* current = nullptr;
thread_local std::vector<Device*> entered;  // what was current before each enter()

std::vector<CUstream_st*> streams;

CUstream_st* find_stream(CUstream_st* stream) {
  return reinterpret_cast<uintptr_t>(stream) <= 2 ? &machine().default_stream : stream;
}

void run_waiting(CUstream_st* stream) {
  while (!stream->waiting.empty()) {
    const std::function<void()> work = stream->waiting.front();
    stream->waiting.erase(stream->waiting.begin());
    work();
  }
}

void* allocate_memory(int64_t bytes) {
  void* memory = nullptr;
  if (bytes > int64_t{1} << 40 || posix_memalign(&memory, 256, static_cast<size_t>(bytes ? bytes : 1))) return nullptr;
  std::memset(memory, 0xcd, static_cast<size_t>(bytes));
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  machine().memory[begin] = begin + static_cast<uintptr_t>(bytes ? bytes : 1);
  return memory;
}

bool free_memory(void* memory) {
  Machine& all = machine();
  const std::lock_guard<std::recursive_mutex> guard(all.lock);
  const auto found = all.memory.find(reinterpret_cast<uintptr_t>(memory));
  if (found == all.memory.end()) return false;
  all.described.erase(all.described.lower_bound(found->first), all.described.lower_bound(found->second));
  all.library.erase(found->first);
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
  ++machine().calls;
  return machine().failing > 0 && --machine().failing == 0 ? machine().failure : 0;
}

int enqueue(CUstream_st* given, std::function<void()> work) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  CUstream_st* stream = find_stream(given);
  if (stream->capturing) stream->recorded.push_back(std::move(work));
  else if (stream->held) stream->waiting.push_back(std::move(work));
  else work();
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

void leave(bool entered) {
  if (!entered) return;
  emulation::current = emulation::entered.back();
  emulation::entered.pop_back();
}

namespace {

int allocate(void** memory, int64_t bytes) {
  if (const int code = enter_call()) return code;
  *memory = emulation::allocate_memory(bytes);
  if (!*memory) return emulation::out_of_memory;
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(*memory);
  machine().library[begin] = begin + static_cast<uintptr_t>(bytes);
  return 0;
}

}  // namespace

int allocate_zeroed(void** memory, int64_t bytes) {
  const int code = allocate(memory, bytes);
  if (!code) std::memset(*memory, 0, static_cast<size_t>(bytes));
  return code;
}

int deallocate(void* memory) {
  if (const int code = synchronize_device()) return code;
  return emulation::free_memory(memory) ? 0 : emulation::invalid_value;
}

int allocate_host(void** memory, int64_t bytes) { return allocate(memory, bytes); }
int deallocate_host(void* memory) { return emulation::free_memory(memory) ? 0 : emulation::invalid_value; }

int allocate_async(void** memory, int64_t bytes, Stream stream) {
  if (find_stream(stream)->capturing) return emulation::capture_unsupported;
  return allocate(memory, bytes);
}

int deallocate_async(void* memory, Stream stream) {
  if (const int code = enter_call()) return code;
  if (find_stream(stream)->capturing) return emulation::invalid_value;
  return enqueue(stream, [memory] {
    if (!emulation::free_memory(memory)) std::abort();
  });
}

int zero_async(void* memory, int64_t bytes, Stream stream) {
  if (const int code = enter_call()) return code;
  return enqueue(stream, [=] { std::memset(memory, 0, static_cast<size_t>(bytes)); });
}

int copy_async(void* to, const void* from, int64_t bytes, Stream stream) {
  if (const int code = enter_call()) return code;
  return enqueue(stream, [=] { std::memcpy(to, from, static_cast<size_t>(bytes)); });
}

int synchronize(Stream given) {
  if (const int code = enter_call()) return code;
  CUstream_st* stream = find_stream(given);
  if (stream->capturing) {
    stream->spoiled = true;
    return emulation::capture_unsupported;
  }
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  emulation::run_waiting(stream);
  return 0;
}

int synchronize_device() {
  if (const int code = enter_call()) return code;
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  for (CUstream_st* stream : emulation::streams) emulation::run_waiting(stream);
  return 0;
}

int is_capturing(Stream stream, bool* capturing) {
  *capturing = find_stream(stream)->capturing;
  return enter_call();
}

int create_event(Event* event) {
  if (const int code = enter_call()) return code;
  *event = new emulation::Event;
  return 0;
}

// Work that was enqueued may still mean to mark it.
void destroy_event(Event event) {
  auto* self = static_cast<emulation::Event*>(event);
  if (self->passed) delete self;
  else self->orphaned = true;
}

int record_event(Event event, Stream given) {
  if (const int code = enter_call()) return code;
  auto* self = static_cast<emulation::Event*>(event);
  CUstream_st* stream = find_stream(given);
  self->stream = stream;
  if (stream->capturing) return 0;  // an edge of the graph, which is in order anyway
  self->passed = false;
  return enqueue(given, [self] {
    self->passed = true;
    if (self->orphaned) delete self;
  });
}

int wait_event(Stream stream, Event event) {
  if (const int code = enter_call()) return code;
  auto* self = static_cast<emulation::Event*>(event);
  if (self->passed) return 0;
  CUstream_st* recorder = self->stream;
  return enqueue(stream, [recorder] { emulation::run_waiting(recorder); });
}

int synchronize_event(Event event) {
  if (const int code = enter_call()) return code;
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  auto* self = static_cast<emulation::Event*>(event);
  if (!self->passed) emulation::run_waiting(self->stream);
  return 0;
}

int query_event(Event event, bool* passed) {
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

const char* error_name(int) { return "an emulated error"; }
bool means_no_memory(int code) { return code == emulation::out_of_memory; }
bool means_capture(int code) { return code >= 900 && code <= 908; }

}  // namespace gather::cuda::runtime

using namespace emulation;

void* gth_emulation_allocate(int64_t bytes) { return allocate_memory(bytes); }
void gth_emulation_free(void* memory) {
  if (memory && !free_memory(memory)) std::abort();
}
void* gth_emulation_allocate_host(int64_t bytes) { return allocate_memory(bytes); }

CUstream_st* gth_emulation_make_stream(int32_t device) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  auto* stream = new CUstream_st;
  stream->device = device;
  streams.push_back(stream);
  return stream;
}

void gth_emulation_destroy_stream(CUstream_st* stream) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  run_waiting(stream);
  for (size_t i = 0; i < streams.size(); ++i) {
    if (streams[i] == stream) streams.erase(streams.begin() + static_cast<std::ptrdiff_t>(i));
  }
  delete stream;
}

void gth_emulation_hold(CUstream_st* stream) { find_stream(stream)->held = true; }

int gth_emulation_synchronize(CUstream_st* stream) {
  const std::lock_guard<std::recursive_mutex> guard(machine().lock);
  run_waiting(find_stream(stream));
  return 0;
}

void gth_emulation_begin_capture(CUstream_st* stream) {
  stream->capturing = true;
  stream->spoiled = false;
  stream->recorded.clear();
}

void* gth_emulation_end_capture(CUstream_st* stream) {
  stream->capturing = false;
  if (stream->spoiled) return nullptr;
  return new Graph{std::move(stream->recorded)};
}

void gth_emulation_launch(void* graph, CUstream_st* stream) {
  for (const std::function<void()>& work : static_cast<Graph*>(graph)->work) enqueue(stream, work);
}

void gth_emulation_destroy_graph(void* graph) { delete static_cast<Graph*>(graph); }

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
