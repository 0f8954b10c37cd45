#include "cuda/context.hpp"
#include "cuda/failure.hpp"
#include "cuda/kernels.hpp"
#include "cuda/launch.hpp"

namespace gather::cuda {
namespace {

using core::Plan;
using core::Pointers;

template <class Job>
int launch_kernels(const Launch& launch, const Job& job, runtime::Stream stream) {
  int code = 0;
  if (launch.validating_blocks > 0) code = launch_validate(launch.reading, job, launch.validating_blocks, stream);
  if (!code && launch.copying_blocks > 0) {
    code = launch_copy(launch.copy, launch.reading, job, launch.copying_blocks, stream);
  }
  return code;
}

int launch_all(const Launch& launch, runtime::Stream stream) {
  if (launch.reports_first) return launch_report_first(launch.any, stream);
  switch (launch.form) {
    case Form::direct: return launch_kernels(launch, launch.direct, stream);
    case Form::small: return launch_kernels(launch, launch.small, stream);
    default: return launch_kernels(launch, launch.any, stream);
  }
}

// What the kernels of a call share: a captured one has its own.
int32_t find_state(Context& context, State** state, const Error& error) {
  uint64_t capture = 0;
  if (const int code = runtime::find_capture(context.stream, &capture)) return fail_cuda(code, "gather", 0, error);
  if (capture == runtime::implicit_capture) {
    return fail_capture("or one that it is in order with, and cannot be used", error);
  }
  *state = capture == 0 ? &context.workspace->state
                        : &context.workspace->captured[context.captured_calls.fetch_add(1) % captured_states];
  return GTH_OK;
}

int32_t enqueue(Context& context, const Plan& plan, const Pointers& pointers, int64_t n, const Place& place,
                const Error& error) {
  Launch launch;
  plan_launch(plan, pointers, n, place, &launch);
  context.launching.lock();
  int code = launch_all(launch, context.stream);
  // What the first kernel of half a call has found is not for the next call.
  if (code && launch.validating_blocks > 0) runtime::zero_async(place.state, sizeof(State), context.stream);
  context.launching.unlock();
  // No kernel copies where every row is asked of an empty dim; an output of ours has a content all the same.
  if (!code && launch.reports_first && place.owns_output && launch.any.units > 0) {
    code = runtime::zero_async(launch.any.out, launch.any.units * plan.row.out, context.stream);
  }
  return code ? fail_cuda(code, "gather", 0, error) : GTH_OK;
}

}  // namespace

int32_t run(Context& context, const Plan& plan, const Pointers& pointers, int64_t n, bool owns_output,
            const Error& error) {
  const Call call(context, error);
  if (call.status()) return call.status();
  const int64_t sequence = context.calls.fetch_add(1, std::memory_order_relaxed) + 1;
  int32_t status = GTH_OK;
  if (plan.tuples.at(n) > 0) {
    if (plan.refused_dim >= 0) return core::fail_empty_params(error, plan.refused_dim);
    if (!plan.is_empty || plan.checks_when_empty) {
      State* state = nullptr;
      status = find_state(context, &state, error);
      if (status) return status;
      status = enqueue(context, plan, pointers, n,
                       {context.device->multiprocessors(), state, context.record, sequence, owns_output}, error);
    }
  }
  if (status == GTH_OK && error.target()) error.target()->sequence = sequence;
  return status;
}

int32_t judge(Context& context, const Plan& plan, const char* indices, int64_t n, const Error& error) {
  Plan judging = plan;
  judging.is_empty = true;  // nothing is copied ...
  judging.checks_when_empty = true;
  return run(context, judging, {nullptr, indices, nullptr}, n, false, error);
}

int32_t allocate(Context& context, int64_t bytes, void** out, const Error& error) {
  const Call call(context, error);
  if (call.status()) return call.status();
  if (int32_t status = check_uncaptured(context, error)) return status;
  const int code = context.device->allocate(out, bytes, context.stream);
  return code ? fail_cuda(code, "out", bytes, error) : GTH_OK;
}

int32_t zero(Context& context, void* memory, int64_t bytes, const Error& error) {
  const Call call(context, error);
  if (call.status()) return call.status();
  const int code = bytes ? runtime::zero_async(memory, bytes, context.stream) : 0;
  return code ? fail_cuda(code, "out", 0, error) : GTH_OK;
}

int32_t copy_bytes(Context& context, void* to, const void* from, int64_t bytes, const Error& error) {
  const Call call(context, error);
  if (call.status()) return call.status();
  const int code = bytes ? runtime::copy_async(to, from, bytes, context.stream) : 0;
  return code ? fail_cuda(code, "copy", 0, error) : GTH_OK;
}

}  // namespace gather::cuda
