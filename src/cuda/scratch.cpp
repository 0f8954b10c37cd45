#include "cuda/scratch.hpp"

#include <new>

#include "cuda/queue.hpp"

namespace gather::cuda {
namespace {

// Keeps the memory until the graph of the capture is destroyed. After a failure, the memory has been released.
int keep_for_capture(Context& context, runtime::Stream stream, Scratch* scratch) {
  scratch->owner = context.room;
  scratch->owner->retain();
  scratch->finish = [](Retired* self) { delete static_cast<Scratch*>(self); };
  const auto release = [](void* user) {
    auto* const unused = static_cast<Scratch*>(user);
    Room* const room = unused->owner;
    room->device->retire_unused(unused);
    room->release();
  };
  return runtime::retain_by_capture(stream, release, scratch);
}

constexpr int64_t hook_alignment = 256;

int allocate_hooked(const Context& context, int64_t bytes, Scratch* scratch) {
  const Hooks& hooks = context.hooks;
  const core::Uncancelled uncancelled;
  scratch->bytes = bytes;
  try {
    scratch->hooked =
        hooks.alloc(hooks.user, bytes, hook_alignment, GTH_DEVICE_CUDA, context.device->id(), hooks.stream);
  } catch (...) {  // which it must not throw
    scratch->hooked = nullptr;
  }
  return scratch->hooked ? 0 : runtime::code::no_memory;
}

void free_hooked(const Context& context, const Scratch& scratch) {
  const Hooks& hooks = context.hooks;
  const core::Uncancelled uncancelled;
  hooks.free(hooks.user, scratch.bytes, hook_alignment, GTH_DEVICE_CUDA, context.device->id(), hooks.stream,
             scratch.hooked);
}

int allocate(Context& context, runtime::Stream stream, int64_t bytes, bool is_captured, Scratch* scratch) {
  if (is_captured) return context.device->allocate_zeroed(&scratch->device_memory, bytes);
  if (context.hooks.alloc) return allocate_hooked(context, bytes, scratch);
  return context.device->allocate(&scratch->device_memory, bytes, stream);
}

}  // namespace

int allocate_scratch(Context& context, runtime::Stream stream, int64_t bytes, bool is_captured, Scratch** out) {
  auto* const scratch = new (std::nothrow) Scratch;
  if (!scratch) return runtime::code::no_memory;
  if (const int code = allocate(context, stream, bytes, is_captured, scratch)) {
    if (scratch->device_memory) context.device->deallocate_unused(scratch->device_memory);
    delete scratch;
    return code;
  }
  *out = scratch;
  return is_captured ? keep_for_capture(context, stream, scratch) : 0;
}

int free_behind(Context& context, runtime::Stream stream, Scratch* scratch) {
  scratch->finish = [](Retired* self) { delete static_cast<Scratch*>(self); };
  if (scratch->hooked) {
    free_hooked(context, *scratch);
    delete scratch;
    return 0;
  }
  const int code = context.device->deallocate(scratch->device_memory, stream);
  if (code)
    context.queue->retire(scratch);
  else
    delete scratch;
  return code;
}

}  // namespace gather::cuda
