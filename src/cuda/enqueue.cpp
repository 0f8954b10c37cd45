#include <algorithm>
#include <utility>

#include "cuda/bag_outputs.hpp"
#include "cuda/bags.hpp"
#include "cuda/device_context.hpp"
#include "cuda/failure.hpp"
#include "cuda/gather_kernels.hpp"
#include "cuda/launch.hpp"
#include "cuda/partition.hpp"
#include "cuda/scatter.hpp"
#include "cuda/scatter_positions.hpp"

namespace gather::cuda {
namespace {

using core::Plan;
using core::Pointers;

// Validates all tuples, and copies rows, in the order that the job names. overlaps: the copying kernel may start while
// the validating one in front of it still runs.
template <class Job>
int launch_kernels(const Launch& launch, const Job& job, bool overlaps, runtime::Stream stream) {
  int code = 0;
  if (job.validation == Validation::in_front) code = launch_validating(launch, job, stream);
  overlaps &= job.validation == Validation::in_front;
  if (!code && launch.copying_blocks > 0) {
    code = each_copied(job, launch.copy, launch.limits, [&](const Job& piece) {
      return launch_copy(launch.copy, launch.reading, piece, launch.copying_blocks, std::exchange(overlaps, false),
                         stream);
    });
  }
  if (!code && job.validation == Validation::behind) code = launch_validating(launch, job, stream);
  return code;
}

int launch_all(const Launch& launch, bool overlaps, runtime::Stream stream) {
  if (launch.reports_first) return launch_report_first(launch.any, stream);
  return visit_form(launch, [&](const auto& job) { return launch_kernels(launch, job, overlaps, stream); });
}

int32_t find_capture(runtime::Stream stream, bool* is_captured, const Error& error) {
  uint64_t capture = 0;
  if (const int code = runtime::find_capture(stream, &capture)) return fail_cuda(code, "gather", 0, error);
  if (capture == runtime::implicit_capture) {
    return fail_capture("or one that it is in order with, and cannot be used", error);
  }
  *is_captured = capture != 0;
  return GTH_OK;
}

// Finds the state that the kernels of a call share. A captured call has its own state.
int32_t find_state(Context& context, runtime::Stream stream, State** state, bool* is_captured, const Error& error) {
  if (int32_t status = find_capture(stream, is_captured, error)) return status;
  if (!*is_captured) {
    *state = &context.workspace->state;
    return GTH_OK;
  }
  CapturedState* captured = nullptr;
  int code = context.room->take(&captured);
  if (code) return fail_cuda(code, "gather", CapturedStates::count * int64_t{sizeof(State)}, error);
  *state = captured->state;
  const auto release = [](void* user) { Room::give_back(static_cast<CapturedState*>(user)); };
  code = runtime::retain_by_capture(stream, release, captured);
  return code ? fail_cuda(code, "gather", 0, error) : GTH_OK;
}

// Captured graphs get only plain edges, because some queries of CUDA do not support others.
int32_t enqueue_any(Context& context, runtime::Stream stream, const Plan& plan, const Pointers& pointers, int64_t n,
                    const Place& place, bool is_captured, const Error& error) {
  Launch launch;
  plan_launch(plan, pointers, n, place, &launch);
  context.launching.lock();
  int code = launch_all(launch, place.capacity->is_for_9_0 && !is_captured, stream);
  context.launching.unlock();
  // No copying kernel runs if every row selects from an empty dim, so this sets an output that the library owns to
  // zeros.
  if (!code && launch.reports_first && place.owns_output && launch.any.units > 0) {
    code = runtime::zero_async(launch.any.out, launch.any.units * plan.row.out, stream);
  }
  return code ? fail_cuda(code, "gather", 0, error) : GTH_OK;
}

// Padding is valid, also if bounds refuses every index of an empty dim. Its rows may become other numbers than the zeros
// of a refused call, so an output that the library owns begins as zeros.
int32_t enqueue_padded(Context& context, runtime::Stream stream, const Plan& plan, const Pointers& pointers, int64_t n,
                       const Place& place, bool is_captured, const Error& error) {
  Plan padded = plan;
  if (meets_empty_dim(plan)) padded.bounds = GTH_BOUNDS_ERROR;
  Place zeroed = place;
  zeroed.owns_output = false;
  const int64_t bytes = place.owns_output && !plan.is_empty ? plan.slices.at(n) * plan.inner * plan.row.out : 0;
  const int code = bytes ? runtime::zero_async(pointers.rows + plan.offset.rows, bytes, stream) : 0;
  if (code) return fail_cuda(code, "gather", 0, error);
  return enqueue_any(context, stream, padded, pointers, n, zeroed, is_captured, error);
}

int32_t enqueue(Context& context, runtime::Stream stream, const Plan& plan, const Pointers& pointers, int64_t n,
                const Place& place, bool is_captured, const Error& error) {
  const auto enqueue_it = gathers_padding(plan) ? enqueue_padded : enqueue_any;
  return enqueue_it(context, stream, plan, pointers, n, place, is_captured, error);
}

int32_t check_place(const Context& context, int32_t operand, const char* name, const void* data, const Error& error) {
  int32_t id = -1;
  bool is_known = false;
  if (const int code = runtime::device_of(data, &id, &is_known)) return fail_cuda(code, name, 0, error);
  const int32_t needed = context.device->id();
  if (!is_known && !context.device->reads_pageable()) {
    return error.fail({GTH_E_DEVICE, operand, -1, -1, GTH_DEVICE_CPU, GTH_DEVICE_CUDA},
                      "%s: its memory is described as of CUDA device %d, and CUDA does not know it", name, needed);
  }
  if (id < 0 || id == needed) return GTH_OK;
  return error.fail({GTH_E_DEVICE, operand, -1, -1, id, needed},
                    "%s: its memory is on CUDA device %d, and is described as of %d", name, id, needed);
}

// Checks the device of all memory. A kernel that accessed memory of another device, or invalid memory, would make CUDA
// unusable in this process. Memory that is not accessed is not checked.
int32_t check_places(const Context& context, const Plan& plan, const Pointers& pointers, int64_t n,
                     const Error& error) {
  if (context.device->is_alone() && context.device->reads_pageable()) return GTH_OK;
  if (!core::has_bags(plan) && (plan.tuples.at(n) == 0 || !reads_indices(plan))) return GTH_OK;
  for (core::Role role : core::EachRole{core::accessed_by(plan, n, pointers.ids)}) {
    const int32_t operand = plan.operation->name_of(role);
    const int32_t status = check_place(context, operand, core::operand_name(operand), pointers[role], error);
    if (status) return status;
  }
  return GTH_OK;
}

// Runs a gradient without updates.
int32_t clear_only(Context& context, const Plan& plan, const StridedJob& clear, const Error& error) {
  const int32_t operand = plan.operation->name_of(core::Role::table);
  if (int32_t status = check_place(context, operand, core::operand_name(operand), clear.target, error)) return status;
  const int code = clear_tensor(clear, *context.device, context.stream());
  return code ? fail_cuda(code, "gradient", 0, error) : GTH_OK;
}

Place place_of(const Context& context, State* state, int64_t sequence, bool owns_output) {
  const Device& device = *context.device;
  return {device.multiprocessors(), &device.capacity(), state, context.record, sequence, owns_output};
}

// Calls run(stream, place, is_captured) for a call that has its own state.
template <class Run>
int32_t with_own_state(Context& context, int64_t sequence, const Error& error, Run&& run_it) {
  CUstream_st* const stream = context.stream();
  bool is_captured = false;
  if (int32_t status = find_capture(stream, &is_captured, error)) return status;
  return run_it(stream, place_of(context, nullptr, sequence, false), is_captured);
}

// Runs the kernels of a plan. clear: see run_scatter.
int32_t run_kernels(Context& context, const Plan& plan, const Pointers& pointers, int64_t n, bool owns_output,
                    const StridedJob* clear, int64_t sequence, const Error& error) {
  CUstream_st* const stream = context.stream();
  State* state = nullptr;
  bool is_captured = false;
  if (int32_t status = find_state(context, stream, &state, &is_captured, error)) return status;
  const Place place = place_of(context, state, sequence, owns_output);
  if (core::has_bags(plan)) return run_bags(context, stream, plan, pointers, n, place, is_captured, error);
  return core::is_scatter(plan) && !plan.is_empty
             ? run_scatter(context, stream, plan, pointers, n, place, clear, is_captured, error)
             : enqueue(context, stream, plan, pointers, n, place, is_captured, error);
}

// Runs a plan. clear: see run_scatter.
int32_t run_call(Context& context, const Plan& plan, const Pointers& pointers, int64_t n, bool owns_output,
                 const StridedJob* clear, int64_t sequence, const Error& error) {
  if (!core::has_bags(plan)) {
    if (plan.tuples.at(n) == 0) return clear ? clear_only(context, plan, *clear, error) : GTH_OK;
    if (plan.refused_dim >= 0) return core::fail_empty_table(error, GTH_OPERAND_PARAMS, plan.refused_dim);
    if (!reads_indices(plan)) return GTH_OK;
  }
  return run_kernels(context, plan, pointers, n, owns_output, clear, sequence, error);
}

// Begins a call. Runs check(), and then call(sequence).
template <class Check, class Run>
int32_t in_call(Context& context, const Error& error, Check&& check, Run&& run_it) {
  const Call call(context, error);
  if (call.status()) return call.status();
  if (int32_t checked = check()) return checked;
  const int64_t sequence = context.calls.fetch_add(1, std::memory_order_relaxed) + 1;
  const int32_t status = run_it(sequence);
  if (status == GTH_OK && error.target()) error.target()->sequence = sequence;
  return status;
}

int32_t begin_and_run(Context& context, const Plan& plan, const Pointers& pointers, int64_t n, bool owns_output,
                      const StridedJob* clear, const Error& error) {
  return in_call(
      context, error, [&] { return check_places(context, plan, pointers, n, error); },
      [&](int64_t sequence) { return run_call(context, plan, pointers, n, owns_output, clear, sequence, error); });
}

// Checks the device of the memory of an operand, which may be nullptr or have no elements.
int32_t check_place_of(const Context& context, const gth_tensor_desc* desc, int32_t operand, const Error& error) {
  if (context.device->is_alone() && context.device->reads_pageable()) return GTH_OK;
  const bool is_used = desc && desc->data && core::count_elements(*desc) > 0;
  return is_used ? check_place(context, operand, core::operand_name(operand), desc->data, error) : GTH_OK;
}

int32_t check_positions(const Context& context, const core::Request& request, const gth_tensor_desc& positions,
                        const Error& error) {
  int32_t status = check_place_of(context, request.table, GTH_OPERAND_TARGET, error);
  if (!status) status = check_place_of(context, request.indices, GTH_OPERAND_INDICES, error);
  if (!status) status = check_place_of(context, request.rows, GTH_OPERAND_UPDATES, error);
  return status ? status : check_place_of(context, &positions, GTH_OPERAND_OUT, error);
}

int32_t check_parts(const Context& context, const gth_tensor_desc& ids, int64_t shards, const gth_parts& parts,
                    const Error& error) {
  const int64_t n = core::count_elements(ids);
  const auto check = [&](const int64_t& count, int64_t* numbers) {
    const gth_tensor_desc array = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &count, numbers);
    return check_place_of(context, &array, GTH_OPERAND_NONE, error);
  };
  int32_t status = check_place_of(context, &ids, GTH_OPERAND_INDICES, error);
  if (!status) status = check(shards, parts.counts);
  for (int64_t* numbers : {parts.local, parts.order, parts.place}) {
    if (!status) status = check(n, numbers);
  }
  return status;
}

// The same for a gradient or positions of bags.
int32_t check_outputs(const Context& context, const core::Request& request, const core::BagOutputs& outputs,
                      const Error& error) {
  const auto check = [&](const gth_tensor_desc* desc, int32_t operand) {
    return check_place_of(context, desc, operand, error);
  };
  int32_t status = GTH_OK;
  for (core::Role role : core::EachRole{request.roles}) {
    const bool is_ignored = role == core::Role::rows && !core::has_gradient(outputs.result);
    const int32_t name = role == core::Role::rows ? GTH_OPERAND_UPDATES : request.operation->name_of(role);
    if (!status && !is_ignored) status = check(request[role], name);
  }
  if (!status) status = check(outputs.target, core::target_name(outputs.result));
  if (!status) status = check(outputs.unique, GTH_OPERAND_OUT);
  const int64_t one = 1;
  const gth_tensor_desc count = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &one, outputs.count);
  return status ? status : check_place_of(context, &count, GTH_OPERAND_OUT, error);
}

}  // namespace

int32_t run(Context& context, const Plan& plan, const Pointers& pointers, int64_t n, bool owns_output,
            const Error& error) {
  return begin_and_run(context, plan, pointers, n, owns_output, nullptr, error);
}

int32_t run_gradient(Context& context, const Plan& plan, const Pointers& pointers, const gth_tensor_desc& target,
                     const Error& error) {
  StridedJob clear;
  const bool has_elements = std::find(target.shape, target.shape + target.ndim, 0) == target.shape + target.ndim;
  if (has_elements) make_clear(target, plan.item.bytes(), &clear);
  return begin_and_run(context, plan, pointers, GTH_OPEN, false, has_elements ? &clear : nullptr, error);
}

int32_t run_scatter_positions(Context& context, const Plan& plan, const core::Request& request,
                              const gth_tensor_desc& positions, const Error& error) {
  const bool has_updates = plan.tuples.at(GTH_OPEN) > 0;
  const auto run_it = [&](int64_t sequence) {
    if (has_updates && plan.refused_dim >= 0) {
      return core::fail_empty_table(error, GTH_OPERAND_PARAMS, plan.refused_dim);
    }
    if (has_updates && plan.is_empty) {
      const Pointers pointers = core::pointers_of(nullptr, request.indices->data, nullptr);
      return run_call(context, plan, pointers, GTH_OPEN, false, nullptr, sequence, error);
    }
    return with_own_state(context, sequence, error, [&](CUstream_st* stream, const Place& place, bool is_captured) {
      return run_scatter_positions(context, stream, plan, request, positions, place, is_captured, error);
    });
  };
  return in_call(context, error, [&] { return check_positions(context, request, positions, error); }, run_it);
}

int32_t run_partition(Context& context, const Plan& plan, const gth_tensor_desc& ids, const core::Shards& shards,
                      const gth_parts& parts, const Error& error) {
  const auto run_it = [&](int64_t sequence) {
    if (plan.tuples.at(GTH_OPEN) > 0 && plan.refused_dim >= 0) {
      return core::fail_empty_table(error, GTH_OPERAND_PARAMS, plan.refused_dim);
    }
    return with_own_state(context, sequence, error, [&](CUstream_st* stream, const Place& place, bool is_captured) {
      return run_partition(context, stream, plan, ids, shards, parts, place, is_captured, error);
    });
  };
  return in_call(context, error, [&] { return check_parts(context, ids, shards.count, parts, error); }, run_it);
}

int32_t run_bag_outputs(Context& context, const Plan& plan, const core::Request& request,
                        const core::BagOutputs& outputs, const Error& error) {
  const auto run_it = [&](int64_t sequence) {
    return with_own_state(context, sequence, error, [&](CUstream_st* stream, const Place& place, bool is_captured) {
      return run_bag_outputs(context, stream, plan, request, outputs, place, is_captured, error);
    });
  };
  return in_call(context, error, [&] { return check_outputs(context, request, outputs, error); }, run_it);
}

int32_t validate(Context& context, const Plan& plan, const Pointers& pointers, int64_t n, const Error& error) {
  Plan validating = plan;
  validating.nonempty &= plan.operation->operands.index;  // Other operands are not accessed.
  validating.checks_when_empty = reads_indices(plan);
  validating.is_empty = true;  // nothing is copied
  return run(context, validating, pointers, n, false, error);
}

int32_t allocate(Context& context, int64_t bytes, void** out, const Error& error) {
  const Call call(context, error);
  if (call.status()) return call.status();
  if (int32_t status = check_uncaptured(context, error)) return status;
  const int code = context.device->allocate(out, bytes, context.stream());
  return code ? fail_cuda(code, "out", bytes, error) : GTH_OK;
}

void deallocate(Context& context, void* memory) {
  const Current current(context.device->handle());
  if (context.device->deallocate(memory, context.stream())) context.device->deallocate_unused(memory);
}

int32_t zero(Context& context, void* memory, int64_t bytes, const Error& error) {
  const Call call(context, error);
  if (call.status()) return call.status();
  const int code = bytes ? runtime::zero_async(memory, bytes, context.stream()) : 0;
  return code ? fail_cuda(code, "out", 0, error) : GTH_OK;
}

int32_t copy_bytes(Context& context, void* to, const void* from, int64_t bytes, const Error& error) {
  const Call call(context, error);
  if (call.status()) return call.status();
  const int code = bytes ? runtime::copy_async(to, from, bytes, context.stream()) : 0;
  return code ? fail_cuda(code, "copy", 0, error) : GTH_OK;
}

}  // namespace gather::cuda
