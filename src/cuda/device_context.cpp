#include "cuda/device_context.hpp"

#include <cstddef>
#include <mutex>
#include <new>

#include "cuda/failure.hpp"
#include "cuda/fork.hpp"
#include "cuda/gather_kernels.hpp"
#include "cuda/streams.hpp"

namespace gather::cuda {
namespace {

int32_t check_device(int32_t id, const Error& error) {
  int32_t count = 0;
  if (runtime::driver_version() == 0) {
    return fail_no_device(offsetof(gth_context_options, device), GTH_DEVICE_CUDA, GTH_DEVICE_CPU,
                          "there is no CUDA driver", error);
  }
  if (const int code = runtime::device_count(&count)) return fail_unusable(code, error);
  if (count == 0) {
    return fail_no_device(offsetof(gth_context_options, device), GTH_DEVICE_CUDA, GTH_DEVICE_CPU,
                          "there is no CUDA device", error);
  }
  if (id >= 0 && id < count) return GTH_OK;
  return fail_no_device(offsetof(gth_context_options, device_id), id, count, "there is no CUDA device of this number",
                        error);
}

// Finds the address of the record for kernels.
int32_t find_record(gth_error_record* given, gth_error_record** out, const Error& error) {
  bool reached = false;
  void* there = nullptr;
  if (const int code = runtime::reach(given, &reached, &there)) return fail_cuda(code, "record", 0, error);
  if (!reached || reinterpret_cast<uintptr_t>(there) % alignof(gth_error_record) != 0) {
    return fail_no_device(offsetof(gth_context_options, record), 0, 0,
                          "record is not aligned memory of the device, or pinned memory", error);
  }
  *out = static_cast<gth_error_record*>(there);
  return GTH_OK;
}

int32_t make_room(Context* context, const Error& error) {
  Room* room = new (std::nothrow) Room(context->device);
  if (!room) return error.fail({GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, sizeof(Room), 0}, "out of memory");
  context->room = room;
  void* workspace = nullptr;
  const int code = context->device->allocate_zeroed(&workspace, sizeof(Workspace));
  room->workspace = context->workspace = static_cast<Workspace*>(workspace);
  return code ? fail_cuda(code, "context", sizeof(Workspace), error) : GTH_OK;
}

int32_t set_up(const gth_context_options& options, Context* context, const Error& error) {
  if (int32_t status = Device::find(options.device_id, &context->device, error)) return status;
  const Current current(context->device->handle());
  if (current.code()) return fail_cuda(current.code(), "context", 0, error);
  context->queue = new (std::nothrow) Queue(context->device, options.stream);
  if (!context->queue) return error.fail({GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, sizeof(Queue), 0}, "out of memory");
  context->device->open(context->queue);
  context->device->drain();
  context->hooks = {options.alloc, options.free, options.memory_user, options.stream};
  if (int32_t status = make_room(context, error)) return status;
  context->record = &context->workspace->record;
  return options.record ? find_record(options.record, &context->record, error) : GTH_OK;
}

int32_t take(Context& context, const Error& error) {
  gth_error_record record{};
  gth_error_record* taken = &context.workspace->taken;
  CUstream_st* const stream = context.stream();
  const int64_t ended = context.queue->ended_work();
  int code = launch_take(context.record, taken, stream);
  if (!code) code = runtime::copy_async(&record, taken, sizeof record, stream);
  const int waited = runtime::synchronize(stream);
  if (!waited) context.queue->note_wait(ended);
  if (!code) code = waited;
  if (code) return fail_cuda(code, "context: take", 0, error);
  return record.count == 0 ? GTH_OK : fail_recorded(record, error);
}

}  // namespace

Call::Call(const Context& context, const Error& error, Gives gives) {
  if (is_forked()) {
    status_ = fail_fork(error);
    return;
  }
  const int code = runtime::enter(context.device->handle(), &entered_);
  status_ = code ? fail_cuda(code, "context", 0, error) : GTH_OK;
  if (code) return;
  if (gives == Gives::work) {
    works_ = context.queue;
    works_->begin_work();
  }
  context.queue->begin_call();
  context.device->drain();
}

int32_t create_context(const gth_context_options& options, Context** out, const Error& error) {
  if (is_forked()) return fail_fork(error);
  watch_forks();
  if (int32_t status = check_device(options.device_id, error)) return status;
  Context* context = new (std::nothrow) Context;
  if (!context) return error.fail({GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, sizeof(Context), 0}, "out of memory");
  const int32_t status = set_up(options, context, error);
  if (status) {
    release_context(context);
    return status;
  }
  *out = context;
  return GTH_OK;
}

Room::Room(Device* given) : device(given) {
  finish = [](Retired* self) {
    auto* room = static_cast<Room*>(self);
    if (room->workspace) room->device->deallocate_unused(room->workspace);
    while (CapturedStates* states = room->all_) {
      room->all_ = states->next;
      room->device->deallocate_unused(states->memory);
      delete states;
    }
    delete room;
  };
  device->retain();
}

Room::~Room() { device->release(); }

void Room::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) device->retire_unused(this);
}

CapturedState* Room::pop() {
  const std::lock_guard<core::Lock> guard(lock_);
  CapturedState* first = free_;
  if (first) free_ = first->next;
  return first;
}

int Room::allocate_states() {
  auto* states = new (std::nothrow) CapturedStates;
  if (!states) return runtime::code::no_memory;
  void* memory = nullptr;
  if (const int code = device->allocate_zeroed(&memory, CapturedStates::count * int64_t{sizeof(State)})) {
    if (memory) device->deallocate_unused(memory);
    delete states;
    return code;
  }
  states->memory = static_cast<State*>(memory);
  const std::lock_guard<core::Lock> guard(lock_);
  states->next = all_;
  all_ = states;
  for (int64_t i = 0; i < CapturedStates::count; ++i) {
    states->each[i] = {this, states->memory + i, free_};
    free_ = &states->each[i];
  }
  return 0;
}

int Room::take(CapturedState** out) {
  while (!(*out = pop())) {
    if (const int code = allocate_states()) return code;
  }
  retain();
  return 0;
}

// The last kernel of the call has already reset the state.
void Room::give_back(CapturedState* captured) {
  Room* room = captured->room;
  {
    const std::lock_guard<core::Lock> guard(room->lock_);
    captured->next = room->free_;
    room->free_ = captured;
  }
  room->release();
}

// Memory is leaked if a stream still uses it and cannot be waited for.
void release_context(Context* context) {
  if (context->queue) {
    if (!is_forked()) {
      const Current current(context->device->handle());
      if (context->queue->close() && context->room) context->room->release();
      context->device->drain();
    }
    context->queue->release();
  }
  delete context;
}

void shut_down() { Device::release_idle(); }

int32_t check_uncaptured(const Context& context, const Error& error) {
  bool capturing = false;
  if (const int code = runtime::is_capturing(context.stream(), &capturing)) return fail_cuda(code, "context", 0, error);
  return capturing ? fail_capture("which can neither wait nor allocate", error) : GTH_OK;
}

int32_t check_not_capturing(Context& context, const Error& error) {
  const Call call(context, error, Gives::nothing);
  return call.status() ? call.status() : check_uncaptured(context, error);
}

int32_t synchronize(Context& context, const Error& error) {
  const Call call(context, error, Gives::nothing);
  if (call.status()) return call.status();
  if (int32_t status = check_uncaptured(context, error)) return status;
  const int code = context.queue->synchronize();
  context.device->drain();
  return code ? fail_cuda(code, "context", 0, error) : GTH_OK;
}

namespace {

// If a stream is to wait for a stream that is being captured, it joins the capture. Every other order between captured
// and uncaptured work would invalidate the capture.
int32_t check_captures(CUstream_st* earlier, CUstream_st* later, const Error& error) {
  uint64_t before = 0, after = 0;
  int code = runtime::find_capture(earlier, &before);
  if (!code) code = runtime::find_capture(later, &after);
  if (code) return fail_cuda(code, "context", 0, error);
  const bool is_usable = before != runtime::implicit_capture && after != runtime::implicit_capture;
  const bool joins = before != 0 && after == 0 && !is_legacy(later);
  return is_usable && (before == after || joins) ? GTH_OK : fail_capture_order(error);
}

// Orders the context's stream after or before the other one.
int32_t order(Context& context, CUstream_st* other, bool is_after, const Error& error) {
  const Call call(context, error);
  if (call.status()) return call.status();
  CUstream_st* const own = context.stream();
  CUstream_st *const earlier = is_after ? other : own, *const later = is_after ? own : other;
  if (int32_t status = check_captures(earlier, later, error)) return status;
  const int code = follow(later, earlier);
  return code ? fail_cuda(code, "context", 0, error) : GTH_OK;
}

}  // namespace

int32_t wait(Context& context, CUstream_st* stream, const Error& error) { return order(context, stream, true, error); }

int32_t signal(Context& context, CUstream_st* stream, const Error& error) {
  return order(context, stream, false, error);
}

int32_t take_error(Context& context, const Error& error) {
  const Call call(context, error, Gives::nothing);
  if (call.status()) return call.status();
  if (int32_t status = check_uncaptured(context, error)) return status;
  context.taking.lock();
  const int32_t status = take(context, error);
  context.taking.unlock();
  context.queue->drain();
  context.device->drain();
  return status;
}

int32_t enqueue_take_error(Context& context, gth_error_record* record, const Error& error) {
  const Call call(context, error);
  if (call.status()) return call.status();
  bool reached = false;
  void* there = nullptr;
  if (const int code = runtime::reach(record, &reached, &there)) return fail_cuda(code, "record", 0, error);
  if (!reached || reinterpret_cast<uintptr_t>(there) % alignof(gth_error_record) != 0) {
    return error.fail({GTH_E_DEVICE}, "record is not aligned memory of the device, or pinned memory");
  }
  const int code = launch_take(context.record, static_cast<gth_error_record*>(there), context.stream());
  return code ? fail_cuda(code, "context: take", 0, error) : GTH_OK;
}

Queue* queue_of(Context& context) { return context.queue; }

}  // namespace gather::cuda
