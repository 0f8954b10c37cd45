#include <new>

#include "api/context.hpp"
#include "api/execute.hpp"
#include "api/fence.hpp"
#include "api/forms.hpp"
#include "api/handles.hpp"
#include "api/shape_output.hpp"
#include "core/device.hpp"
#include "core/lower.hpp"
#include "core/memory.hpp"
#include "core/short.hpp"
#include "cpu/short.hpp"

namespace gather::api {
namespace {

using core::Op;
using core::Open;
using core::Plan;
using core::Request;

struct PlanObject : core::Allocated {
  core::Short short_form;
  bool is_short;  // it has one
  cpu::Kernels kernels;
  Plan plan;
};

void prepare(PlanObject* object) {
  object->kernels = cpu::choose_kernels(object->plan);
  object->is_short = core::shorten(object->plan, &object->short_form);
}

int32_t check_request(const Request& request, const Error& error) {
  const int32_t indexed = core::operation_of(request.op).roles().indexed;
  if (!request.params) return fail_null(indexed, error);
  if (!request.indices) return fail_null(GTH_OPERAND_INDICES, error);
  if (int32_t status = core::check_structs(request, error)) return status;
  if (request.params->dtype == GTH_DTYPE_STRING) {
    return error.fail({GTH_E_UNSUPPORTED, indexed, -1, -1, GTH_DTYPE_STRING, 0}, "%s: strings have no plan",
                      core::operand_name(indexed));
  }
  return GTH_OK;
}

int32_t check_device(const Plan& plan, const Error& error) {
  if (plan.device == GTH_DEVICE_CPU || cuda::has_device(plan.device_id)) return GTH_OK;
  return core::fail_device(core::roles_of(plan.direction).indexed, plan.device, GTH_DEVICE_CPU, error);
}

int32_t create(const Request& request, gth_plan** out, const Error& error) {
  if (int32_t status = check_request(request, error)) return status;
  PlanObject* object = new (std::nothrow) PlanObject;
  if (!object) return fail_memory(sizeof(PlanObject), error);
  int32_t status = core::lower(request, &object->plan, error);
  if (!status) status = check_device(object->plan, error);
  uintptr_t token = 0;
  Content* content = status ? nullptr : acquire_slot(Kind::plan, &token);
  if (!content) {
    delete object;
    return status ? status : fail_memory(sizeof(Content), error);
  }
  prepare(object);
  content->object = object;
  publish_slot(token);
  *out = handle_of<gth_plan>(token);
  return GTH_OK;
}

int32_t find_plan(const gth_plan* handle, const PlanObject** out, const Error& error) {
  if (!handle) return fail_null(GTH_OPERAND_PLAN, error);
  const Content* content = find_slot(token_of(handle), Kind::plan);
  if (!content) return fail_handle(GTH_OPERAND_PLAN, error);
  *out = static_cast<const PlanObject*>(content->object);
  return GTH_OK;
}

// A few rows on the CPU. False: it is another kind of run, or something is wrong with it.
bool run_shortly(gth_context* handle, const gth_plan* plan, const core::Pointers& pointers, int64_t n,
                 const core::Extents* given) {
  const Context* context = nullptr;
  if (find_context(handle, &context, Error(nullptr)) || context->device != GTH_DEVICE_CPU) return false;
  const Content* content = find_slot(token_of(plan), Kind::plan);
  if (!content) return false;
  const PlanObject& object = *static_cast<const PlanObject*>(content->object);
  return object.is_short && cpu::run_short(object.short_form, object.kernels.copy, pointers, n, given);
}

// The context and the plan of a call, which belong to one device.
struct Run {
  const Context* context = nullptr;
  const PlanObject* object = nullptr;

  const Plan& plan() const { return object->plan; }
};

int32_t find_run(gth_context* context, const gth_plan* plan, Run* out, const Error& error) {
  if (!plan) return fail_null(GTH_OPERAND_PLAN, error);
  if (int32_t status = find_context(context, &out->context, error)) return status;
  if (int32_t status = find_plan(plan, &out->object, error)) return status;
  const Plan& planned = out->plan();
  const Context& given = *out->context;
  if (planned.device != given.device) return core::fail_device(GTH_OPERAND_PLAN, planned.device, given.device, error);
  if (planned.device_id == given.device_id) return GTH_OK;
  return core::fail_device(GTH_OPERAND_PLAN, planned.device_id, given.device_id, error);
}

// To a caller, what a run reads comes first and what it writes last; to a plan, what indices select in comes first.
template <class Pair>
Pair as_planned(const Plan& plan, Pair given);

template <>
core::Pointers as_planned(const Plan& plan, core::Pointers given) {
  return core::is_scatter(plan) ? core::Pointers{given.out, given.indices, const_cast<char*>(given.params)} : given;
}

template <>
core::Extents as_planned(const Plan& plan, core::Extents given) {
  return core::is_scatter(plan) ? core::Extents{given.out, given.indices, given.params} : given;
}

// given: how much memory there is; nullptr: the caller answers for it.
int32_t run_plan(gth_context* context, const gth_plan* plan, const core::Pointers& pointers, int64_t n,
                 const core::Extents* given, const Error& error) {
  Run run;
  if (int32_t status = find_run(context, plan, &run, error)) return status;
  const core::Pointers planned = as_planned(run.plan(), pointers);
  const core::Extents extents = given ? as_planned(run.plan(), *given) : core::Extents{};
  if (int32_t status = core::check_run(run.plan(), planned, n, given ? &extents : nullptr, error)) return status;
  return execute(*run.context, run.plan(), run.object->kernels, planned, n, Output::callers, error);
}

int32_t check_plan(gth_context* context, const gth_plan* plan, const char* indices, int64_t n, const Error& error) {
  Run run;
  if (int32_t status = find_run(context, plan, &run, error)) return status;
  if (int32_t status = core::check_judging(run.plan(), indices, n, error)) return status;
  if (run.context->cuda) return cuda::judge(*run.context->cuda, run.plan(), indices, n, error);
  return cpu::judge(run.plan(), run.object->kernels, indices, n, executor_for(*run.context, run.plan().threads), error);
}

int32_t plan_extents(const gth_plan* handle, int64_t n, core::Extents* out, const Error& error) {
  const PlanObject* object = nullptr;
  if (int32_t status = find_plan(handle, &object, error)) return status;
  if (int32_t status = core::check_open_extent(object->plan, n, error)) return status;
  *out = as_planned(object->plan, core::extents_of(object->plan, n));
  return GTH_OK;
}

int32_t plan_shape(const gth_plan* handle, int64_t n, int32_t capacity, int32_t* ndim, int64_t* shape,
                   const Error& error) {
  if (!ndim) return error.fail({GTH_E_NULL}, "ndim is NULL");
  const PlanObject* object = nullptr;
  if (int32_t status = find_plan(handle, &object, error)) return status;
  const Plan& plan = object->plan;
  if (n != GTH_OPEN) {
    if (int32_t status = core::check_open_extent(plan, n, error)) return status;
  }
  int64_t filled_in[GTH_MAX_NDIM];
  for (int32_t i = 0; i < plan.ndim; ++i) filled_in[i] = plan.shape[i] == GTH_OPEN ? n : plan.shape[i];
  return write_shape(plan.ndim, filled_in, capacity, ndim, shape, error);
}

}  // namespace

int32_t make_plan(Op op, const gth_tensor_desc* indexed, const gth_tensor_desc* indices, const gth_options* options,
                  const gth_tensor_desc* linear, gth_plan** out, const Error& error) {
  return create({op, Open::one, indexed, indices, linear, options, 0, 0}, out, error);
}

}  // namespace gather::api

using namespace gather::api;

int32_t gth_plan_run(gth_context* context, const gth_plan* plan, const void* params, const void* indices, void* out,
                     int64_t n, gth_error* err) {
  const gather::core::Pointers pointers = pointers_of(params, indices, out);
  if (is_error_struct(err) && run_shortly(context, plan, pointers, n, nullptr)) return succeed(err);
  return fence(err, [&](const Error& error) { return run_plan(context, plan, pointers, n, nullptr, error); });
}

int32_t gth_plan_run_checked(gth_context* context, const gth_plan* plan, const void* params, int64_t params_extent,
                             const void* indices, int64_t indices_extent, void* out, int64_t out_extent, int64_t n,
                             gth_error* err) {
  const gather::core::Pointers pointers = pointers_of(params, indices, out);
  const gather::core::Extents extents{params_extent, indices_extent, out_extent};
  if (is_error_struct(err) && run_shortly(context, plan, pointers, n, &extents)) return succeed(err);
  return fence(err, [&](const Error& error) { return run_plan(context, plan, pointers, n, &extents, error); });
}

int32_t gth_plan_check(gth_context* context, const gth_plan* plan, const void* indices, int64_t n, gth_error* err) {
  return fence(
      err, [&](const Error& error) { return check_plan(context, plan, static_cast<const char*>(indices), n, error); });
}

int32_t gth_plan_extents(const gth_plan* plan, int64_t n, int64_t* params, int64_t* indices, int64_t* out,
                         gth_error* err) {
  return fence(err, [&](const Error& error) {
    gather::core::Extents extents{};
    if (int32_t status = plan_extents(plan, n, &extents, error)) return status;
    if (params) *params = extents.params;
    if (indices) *indices = extents.indices;
    if (out) *out = extents.out;
    return GTH_OK;
  });
}

int32_t gth_plan_shape(const gth_plan* plan, int64_t n, int32_t capacity, int32_t* ndim, int64_t* shape,
                       gth_error* err) {
  return fence(err, [&](const Error& error) { return plan_shape(plan, n, capacity, ndim, shape, error); });
}

int32_t gth_plan_release(gth_plan* plan) {
  if (!plan) return GTH_OK;
  void* object;
  if (!retire_slot(token_of(plan), Kind::plan, [&](const Content& content) { object = content.object; })) {
    return GTH_E_HANDLE;
  }
  delete static_cast<PlanObject*>(object);
  return GTH_OK;
}
