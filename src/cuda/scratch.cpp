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

}  // namespace

int allocate_scratch(Context& context, runtime::Stream stream, int64_t bytes, bool is_captured, Scratch** out) {
  auto* const scratch = new (std::nothrow) Scratch;
  if (!scratch) return runtime::code::no_memory;
  const int code = is_captured ? context.device->allocate_zeroed(&scratch->device_memory, bytes)
                               : context.device->allocate(&scratch->device_memory, bytes, stream);
  if (code) {
    if (scratch->device_memory) context.device->deallocate_unused(scratch->device_memory);
    delete scratch;
    return code;
  }
  *out = scratch;
  return is_captured ? keep_for_capture(context, stream, scratch) : 0;
}

int free_behind(Context& context, runtime::Stream stream, Scratch* scratch) {
  scratch->finish = [](Retired* self) { delete static_cast<Scratch*>(self); };
  const int code = context.device->deallocate(scratch->device_memory, stream);
  if (code)
    context.queue->retire(scratch);
  else
    delete scratch;
  return code;
}

}  // namespace gather::cuda
