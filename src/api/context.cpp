#include "api/context.hpp"

#include <cstddef>
#include <new>

#include "api/handles.hpp"
#include "core/base/structs.hpp"
#include "core/types/device.hpp"

namespace gather::api {
namespace {

int32_t fail_option(int32_t status, size_t offset, int64_t value, int64_t limit, const char* what, const Error& error) {
  return error.fail({status, GTH_OPERAND_OPTIONS, static_cast<int32_t>(offset), -1, value, limit}, "options: %s", what);
}

int32_t check_options(const gth_context_options& options, const Error& error) {
  if (!options.alloc != !options.free) {
    return fail_option(GTH_E_NULL,
                       options.alloc ? offsetof(gth_context_options, free) : offsetof(gth_context_options, alloc), 0, 0,
                       "alloc and free must both be set, or both be NULL", error);
  }
  if (options.flags) {
    return fail_option(GTH_E_VERSION, offsetof(gth_context_options, flags), options.flags, 0, "unknown flags", error);
  }
  if (options.reserved) {
    return fail_option(GTH_E_VERSION, offsetof(gth_context_options, reserved), options.reserved, 0,
                       "a reserved field is set", error);
  }
  if (options.reserved_pointer) {
    return fail_option(GTH_E_VERSION, offsetof(gth_context_options, reserved_pointer), 1, 0, "a reserved field is set",
                       error);
  }
  if (options.threads < 0) {
    return fail_option(GTH_E_VERSION, offsetof(gth_context_options, threads), options.threads, INT32_MAX,
                       "threads is negative", error);
  }
  if (options.device != 0 && options.device != GTH_DEVICE_CPU && options.device != GTH_DEVICE_CUDA) {
    return fail_option(GTH_E_DEVICE, offsetof(gth_context_options, device), options.device, 0,
                       "a context is on the CPU or on a CUDA device", error);
  }
  return GTH_OK;
}

void destroy(Context* context) {
  if (context->cuda) cuda::release_context(context->cuda);
  delete context;
}

int32_t set_up(const gth_context_options& options, Context* context, const Error& error) {
  context->device = options.device ? options.device : GTH_DEVICE_CPU;
  context->device_id = context->device == GTH_DEVICE_CUDA ? options.device_id : 0;
  context->stream = options.stream;
  context->memory = {options.alloc, options.free, options.memory_user};
  context->executor = {options.threads, options.parallel_for, options.parallel_user};
  return context->device == GTH_DEVICE_CUDA ? cuda::create_context(options, &context->cuda, error) : GTH_OK;
}

int32_t create(const gth_context_options* options, gth_context** out, const Error& error) {
  gth_context_options room;
  if (int32_t status = core::read_struct(options, &room, &options, GTH_OPERAND_OPTIONS, error)) return status;
  if (int32_t status = check_options(*options, error)) return status;
  Context* context = new (std::nothrow) Context{};
  if (!context) return fail_memory(sizeof(Context), error);
  const int32_t status = set_up(*options, context, error);
  uintptr_t token = 0;
  Content* content = status ? nullptr : acquire_slot(HandleKind::context, &token);
  if (!content) {
    destroy(context);
    return status ? status : fail_memory(sizeof(Content), error);
  }
  content->as<void*>() = context;
  publish_slot(token);
  *out = handle_of<gth_context>(token);
  return GTH_OK;
}

// Calls on(cuda context). Returns GTH_OK for a CPU context.
template <class On>
int32_t on_device(gth_context* handle, gth_error* err, On&& on) {
  return api_boundary(err, [&](const Error& error) {
    const Context* context = nullptr;
    if (int32_t status = find_context(handle, &context, error)) return status;
    return context->cuda ? on(*context->cuda, error) : GTH_OK;
  });
}

// Calls on(cuda context). Returns GTH_E_DEVICE for a CPU context.
template <class On>
int32_t on_stream(gth_context* handle, gth_error* err, On&& on) {
  return api_boundary(err, [&](const Error& error) {
    const Context* context = nullptr;
    if (int32_t status = find_context(handle, &context, error)) return status;
    if (context->cuda) return on(*context->cuda, error);
    return core::fail_device(GTH_OPERAND_CONTEXT, context->device, GTH_DEVICE_CUDA, error);
  });
}

}  // namespace

const Context default_context{{},     GTH_DEVICE_CPU, 0, nullptr, {nullptr, nullptr, nullptr}, {0, nullptr, nullptr},
                              nullptr};

int32_t find_live_context(gth_context* handle, const Context** out, const Error& error) {
  const Content* content = find_slot(token_of(handle), HandleKind::context);
  if (!content) return fail_handle(GTH_OPERAND_CONTEXT, error);
  *out = static_cast<const Context*>(content->as<void*>());
  return GTH_OK;
}

}  // namespace gather::api

using namespace gather::api;
namespace cuda = gather::cuda;

int32_t gth_context_create(const gth_context_options* options, gth_context** out, gth_error* err) {
  static constexpr gth_context_options defaults = GTH_CONTEXT_OPTIONS_INIT;
  return api_boundary(out, err, [&](const Error& error) { return create(options ? options : &defaults, out, error); });
}

int32_t gth_context_release(gth_context* context) {
  if (!context) return GTH_OK;
  void* object;
  if (!release_slot(token_of(context), HandleKind::context,
                    [&](const Content& content) { object = content.as<void*>(); })) {
    return GTH_E_HANDLE;
  }
  destroy(static_cast<Context*>(object));
  return GTH_OK;
}

int32_t gth_context_sync(gth_context* context, gth_error* err) { return on_device(context, err, cuda::synchronize); }

int32_t gth_context_wait(gth_context* context, CUstream_st* stream, gth_error* err) {
  return on_stream(context, err,
                   [&](cuda::Context& device, const Error& error) { return cuda::wait(device, stream, error); });
}

int32_t gth_context_signal(gth_context* context, CUstream_st* stream, gth_error* err) {
  return on_stream(context, err,
                   [&](cuda::Context& device, const Error& error) { return cuda::signal(device, stream, error); });
}

int32_t gth_context_take_error(gth_context* context, gth_error* err) {
  return on_device(context, err, cuda::take_error);
}

int32_t gth_context_enqueue_take_error(gth_context* context, gth_error_record* record, gth_error* err) {
  if (!record) return api_boundary(err, [](const Error& error) { return fail_null(GTH_OPERAND_NONE, error); });
  return on_device(context, err, [&](cuda::Context& device, const Error& error) {
    return cuda::enqueue_take_error(device, record, error);
  });
}

int32_t gth_shutdown(void) {
  gather::cpu::shut_down();
  cuda::shut_down();
  return GTH_OK;
}
