#include "core/plan.hpp"

#include <algorithm>
#include <cinttypes>
#include <new>

#include "api/context.hpp"
#include "api/fence.hpp"
#include "api/handles.hpp"
#include "api/shape_output.hpp"
#include "core/device.hpp"
#include "core/direct.hpp"
#include "core/memory.hpp"
#include "cpu/direct.hpp"
#include "cpu/run.hpp"

namespace gather::api {
namespace {

using core::Op;
using core::Open;
using core::Plan;
using core::Request;

struct PlanObject : core::Allocated {
  core::Direct direct;
  cpu::CopyRows copy_directly;  // nullptr: the plan has no short form
  Plan plan;
};

void prepare(PlanObject* object) {
  const bool is_short = core::shorten(object->plan, &object->direct);
  object->copy_directly = is_short ? cpu::choose_copy(object->plan.row) : nullptr;
}

int32_t check_request(const Request& request, const Error& error) {
  if (!request.params) return fail_null(GTH_OPERAND_PARAMS, error);
  if (!request.indices) return fail_null(GTH_OPERAND_INDICES, error);
  if (int32_t status = core::check_structs(request, error)) return status;
  if (request.params->dtype == GTH_DTYPE_STRING) {
    return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_PARAMS, -1, -1, GTH_DTYPE_STRING, 0},
                      "params: strings have no plan");
  }
  return GTH_OK;
}

int32_t check_device(const Plan& plan, const Error& error) {
  if (plan.device == GTH_DEVICE_CPU) return GTH_OK;
  return core::fail_device(GTH_OPERAND_PARAMS, plan.device, GTH_DEVICE_CPU, error);
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
bool run_few(gth_context* handle, const gth_plan* plan, const core::Pointers& pointers, int64_t n) {
  const Context* context = nullptr;
  if (find_context(handle, &context, Error(nullptr)) || context->device != GTH_DEVICE_CPU) return false;
  const Content* content = find_slot(token_of(plan), Kind::plan);
  if (!content) return false;
  const PlanObject& object = *static_cast<const PlanObject*>(content->object);
  return object.copy_directly && cpu::run_direct(object.direct, object.copy_directly, pointers, n);
}

int32_t run_plan(gth_context* handle, const gth_plan* plan_handle, const core::Pointers& pointers, int64_t n,
                 const Error& error) {
  if (!plan_handle) return fail_null(GTH_OPERAND_PLAN, error);
  const Context* context = nullptr;
  if (int32_t status = find_context(handle, &context, error)) return status;
  const PlanObject* object = nullptr;
  if (int32_t status = find_plan(plan_handle, &object, error)) return status;
  const Plan& plan = object->plan;
  if (plan.device != context->device || plan.device_id != context->device_id) {
    return core::fail_device(GTH_OPERAND_PLAN, plan.device, context->device, error);
  }
  if (int32_t status = core::check_run(plan, pointers, n, error)) return status;
  return cpu::run(plan, pointers, n, executor_for(*context, plan.threads), error);
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
}  // namespace gather::api

using namespace gather::api;

int32_t gth_gather_plan(const gth_tensor_desc* params, const gth_tensor_desc* indices, const gth_options* options,
                        const gth_tensor_desc* output, gth_plan** out, gth_error* err) {
  return fence(out, err, [&](const Error& error) {
    return create({Op::gather, Open::one, params, indices, output, options, 0, 0}, out, error);
  });
}

int32_t gth_gather_nd_plan(const gth_tensor_desc* params, const gth_tensor_desc* indices, const gth_options* options,
                           const gth_tensor_desc* output, gth_plan** out, gth_error* err) {
  return fence(out, err, [&](const Error& error) {
    return create({Op::gather_nd, Open::one, params, indices, output, options, 0, 0}, out, error);
  });
}

int32_t gth_plan_run(gth_context* context, const gth_plan* plan, const void* params, const void* indices, void* out,
                     int64_t n, gth_error* err) {
  const gather::core::Pointers pointers{static_cast<const char*>(params), static_cast<const char*>(indices),
                                        static_cast<char*>(out)};
  if (is_error_struct(err) && run_few(context, plan, pointers, n)) return succeed(err);
  return fence(err, [&](const Error& error) { return run_plan(context, plan, pointers, n, error); });
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
