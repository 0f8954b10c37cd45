#include <cstdlib>
#include <cstring>
#include <iterator>

#include "state.hpp"

// Memory of devices, pinned and managed memory, allocated at once or in stream order.
namespace emulation {

void* allocate_memory(int64_t bytes, cudaMemoryType type, int32_t device) {
  void* memory = nullptr;
  const size_t size = static_cast<size_t>(bytes ? bytes : 1);
  if (bytes > int64_t{1} << 40 || posix_memalign(&memory, 256, size)) return nullptr;
  std::memset(memory, 0xcd, static_cast<size_t>(bytes));
  const Guard guard(machine().lock);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  machine().memory[begin] = {begin + size, type, device, false, false, {}, {}};
  return memory;
}

bool free_memory(void* memory) {
  Machine& all = machine();
  const Guard guard(all.lock);
  const auto found = all.memory.find(reinterpret_cast<uintptr_t>(memory));
  if (found == all.memory.end()) return false;
  all.described.erase(all.described.lower_bound(found->first), all.described.lower_bound(found->second.end));
  all.memory.erase(found);
  std::free(memory);
  return true;
}

Memory* find_memory(const void* address, uint64_t bytes) {
  std::map<uintptr_t, Memory>& all = machine().memory;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(address);
  const auto after = all.upper_bound(begin);
  if (after == all.begin()) return nullptr;
  Memory& found = std::prev(after)->second;
  return begin + bytes <= found.end ? &found : nullptr;
}

bool reaches(const void* address, uint64_t bytes) {
  const Guard guard(machine().lock);
  return machine().reads_pageable || find_memory(address, bytes);
}

bool is_of_library(const void* address) {
  const Memory* memory = find_memory(address, 1);
  return memory && memory->is_of_library;
}

namespace {

bool is_described(uintptr_t begin, uint64_t bytes) {
  const std::map<uintptr_t, uintptr_t>& described = machine().described;
  const auto after = described.upper_bound(begin);
  return after != described.begin() && begin + bytes <= std::prev(after)->second;
}

const Running*& running() {
  static const Running* one = nullptr;  // guarded by the machine's lock
  return one;
}

}  // namespace

Running::Running(uint64_t stream, const Clock& clock) : outer_(running()), stream_(stream), clock_(&clock) {
  running() = this;
}

Running::~Running() { running() = outer_; }

const Clock* Running::clock() { return running() ? running()->clock_ : nullptr; }

void Running::use(Memory* memory) {
  if (!memory || !memory->is_pooled || !running()) return;
  const Running& now = *running();
  if (!knows(*now.clock_, memory->born)) count_violation("memory is used by a stream that does not wait for it");
  uint64_t& last = memory->used[now.stream_];
  const uint64_t time = now.clock_->at(now.stream_);
  if (last < time) last = time;
}

void touch(const void* address, uint64_t bytes) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(address);
  if (begin % bytes != 0) ++machine().violations;
  if (machine().described.empty() || is_described(begin, bytes)) return;
  Memory* memory = find_memory(address, bytes);
  if (memory && memory->is_of_library)
    Running::use(memory);
  else
    ++machine().violations;
}

namespace {

int allocate_for_library(void** out, size_t bytes, int32_t device, CUstream_st* stream) {
  *out = allocate_memory(static_cast<int64_t>(bytes), cudaMemoryTypeDevice, device);
  if (!*out) return cudaErrorMemoryAllocation;
  Memory* memory = find_memory(*out, 1);
  memory->is_of_library = true;
  if (stream) {
    memory->is_pooled = true;
    give(stream, [memory] { memory->born = *Running::clock(); });
  }
  return 0;
}

void free_in_order(void* address) {
  const Memory* memory = find_memory(address, 1);
  if (!memory || !memory->is_pooled) std::abort();
  if (!knows(*Running::clock(), memory->born) || !knows(*Running::clock(), memory->used))
    count_violation("memory is given back while another stream may use it");
  free_memory(address);
}

// All bytes belong to one allocation, or to none.
void use(const void* address, size_t bytes) { Running::use(find_memory(address, bytes)); }

}  // namespace
}  // namespace emulation

using namespace emulation;

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  return call(Safety::unsafe, [&] { return allocate_for_library(memory, bytes, current()->device, nullptr); });
}

cudaError_t cudaFree(void* memory) {
  return call_surely([&] { return free_memory(memory) ? 0 : cudaErrorInvalidValue; });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call(Safety::unsafe, [&] {
    if (properties->allocType != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
    if (properties->location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
    *pool = new CUmemPoolHandle_st{properties->location.id};
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call_surely([&] {
    delete pool;
    return 0;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call(Safety::unsafe, [&] {
    if (!pool || !value || attribute != cudaMemPoolAttrReleaseThreshold) return cudaErrorInvalidValue;
    machine().kept[pool->device] = *static_cast<const uint64_t*>(value);
    return cudaSuccess;
  });
}

// In a captured stream, the memory would belong to the graph and not exist when the call returns.
cudaError_t cudaMallocFromPoolAsync(void** memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return call(Safety::unsafe, [&]() -> int {
    if (!pool || bytes == 0) return cudaErrorInvalidValue;
    if (capture_of(stream)) return cudaErrorNotSupported;
    return allocate_for_library(memory, bytes, pool->device, find_stream(stream));
  });
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  return call(Safety::unsafe, [&]() -> int {
    if (capture_of(stream)) return cudaErrorInvalidValue;  // a graph can free only memory that it has allocated
    return enqueue(stream, [memory] { free_in_order(memory); });
  });
}

cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  return call(Safety::of_stream, [&] {
    return enqueue(stream, [=] {
      use(memory, bytes);
      std::memset(memory, value, bytes);
    });
  });
}

// A copy to pageable memory waits.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  return call(Safety::of_stream, [&] {
    const bool waits = !find_memory(to, bytes) && !capture_of(stream);
    const int code = enqueue(stream, [=] {
      use(to, bytes);
      use(from, bytes);
      std::memcpy(to, from, bytes);
    });
    if (waits && !code) wait_for(find_stream(stream));
    return code;
  });
}

// CUDA reports memory that belongs to no device as unregistered.
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  return call(Safety::unsafe, [&] {
    const Memory* found = find_memory(memory, 1);
    *attributes = {};
    attributes->device = -2;
    if (!found) return 0;
    attributes->type = found->type;
    attributes->device = found->device;
    attributes->devicePointer = attributes->hostPointer = const_cast<void*>(memory);
    return 0;
  });
}
