#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/plan/operands.hpp"
#include "core/plan/plan.hpp"
#include "cuda/queue.hpp"

// The device half as the API sees it. Without CUDA, stub.cpp answers.
namespace gather::cuda {

using core::Error;

// The cuda_* and device_* fields.
void describe_machine(gth_capability_info* info);

// Whether this build and this machine have the device.
bool has_device(int32_t id);
// The device that memory is on; 0 where it is no device's alone.
int32_t find_device_of(const void* data, int32_t* id, const Error& error);

// A device, a stream and what calls on them share.
class Context;

int32_t create_context(const gth_context_options& options, Context** out, const Error& error);
void release_context(Context* context);

// Ends what contexts of the process have shared, where there is none any more.
void shut_down();

int32_t synchronize(Context& context, const Error& error);
int32_t wait(Context& context, CUstream_st* stream, const Error& error);
int32_t signal(Context& context, CUstream_st* stream, const Error& error);
int32_t take_error(Context& context, const Error& error);
int32_t enqueue_take_error(Context& context, gth_error_record* record, const Error& error);

// Runs a plan on checked pointers, in stream order. owns_output: the output is new, dense memory of the library, which
// becomes zeros where nothing is gathered.
int32_t run(Context& context, const core::Plan& plan, const core::Pointers& pointers, int64_t n, bool owns_output,
            const Error& error);

// As run, but indices are judged and nothing else is done.
int32_t judge(Context& context, const core::Plan& plan, const char* indices, int64_t n, const Error& error);

// Memory in stream order, refused under capture.
int32_t check_not_capturing(Context& context, const Error& error);
int32_t allocate(Context& context, int64_t bytes, void** out, const Error& error);
int32_t zero(Context& context, void* memory, int64_t bytes, const Error& error);
int32_t copy_bytes(Context& context, void* to, const void* from, int64_t bytes, const Error& error);

// Where memory that the context's stream may still use is let go.
Queue* queue_of(Context& context);

}  // namespace gather::cuda
