#include "api/forms.hpp"

#include "api/execute.hpp"
#include "api/operands.hpp"
#include "api/shape_output.hpp"
#include "core/lower.hpp"
#include "core/short.hpp"
#include "cpu/short.hpp"

namespace gather::api {
namespace {

using core::Op;
using core::Open;
using core::Plan;
using core::Request;

int32_t run_plan(const Context& context, const Plan& plan, const core::Pointers& pointers, Output output,
                 const Error& error) {
  if (int32_t status = core::check_run(plan, pointers, GTH_OPEN, nullptr, error)) return status;
  return execute_once(context, plan, pointers, output, error);
}

bool is_string(const gth_tensor_desc& desc) { return desc.dtype == GTH_DTYPE_STRING; }

int32_t fail_string_form(const Error& error) {
  return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_PARAMS, -1, -1, GTH_DTYPE_STRING, 0},
                    "params: strings are gathered by the allocating form only");
}

// A few rows of dense tensors take a short way, which does not exist for anything that is unusual or wrong.
bool gather_shortly(const Context& context, const Request& request) {
  core::Short form;
  return context.device == GTH_DEVICE_CPU && core::lower_short(request, &form) &&
         cpu::run_short(form, cpu::choose_copy(form.row),
                        pointers_of(request.params->data, request.indices->data, request.out->data), GTH_OPEN, nullptr);
}

int32_t gather_described(const Context& context, const Request& request, const Error& error) {
  if (is_string(*request.params)) return fail_string_form(error);
  Plan plan;
  if (int32_t status = core::lower(request, &plan, error)) return status;
  return run_plan(context, plan, pointers_of(request.params->data, request.indices->data, request.out->data),
                  Output::callers, error);
}

int32_t find_operands(Op op, gth_context* context, const gth_tensor* params, const gth_tensor* indices,
                      const gth_options* options, Operands* out, const Error& error) {
  if (!params) return fail_null(GTH_OPERAND_PARAMS, error);
  if (!indices) return fail_null(GTH_OPERAND_INDICES, error);
  if (int32_t status = core::check_options(options, op, error)) return status;
  if (int32_t status = find_context(context, &out->context, error)) return status;
  if (int32_t status = find_tensor(params, GTH_OPERAND_PARAMS, &out->params, error)) return status;
  return find_tensor(indices, GTH_OPERAND_INDICES, &out->indices, error);
}

Request request_of(Op op, const Operands& operands, const gth_tensor_desc* out, const gth_options* options) {
  return {op,  Open::none, &operands.params->desc,   &operands.indices->desc,
          out, options,    operands.context->device, operands.context->device_id};
}

int32_t gather_numbers(const Operands& operands, const Plan& plan, gth_tensor** out, const Error& error) {
  gth_tensor_desc desc = output_desc(plan, operands);
  desc.extent = element_count(plan) * plan.item.bytes();
  // Rows that bounds = skip leaves alone are zeros in memory of ours.
  const bool zeroed = plan.bounds == GTH_BOUNDS_SKIP;
  char* data;
  Storage* storage;
  int32_t status = allocate_storage(*operands.context, desc.extent, zeroed, &data, &storage, error);
  if (status) return status;
  desc.data = data;
  status = run_plan(*operands.context, plan, pointers_of(operands.params->desc.data, operands.indices->desc.data, data),
                    Output::ours, error);
  if (!status) status = make_tensor(desc, storage, out, error);
  if (status) storage->release();
  return status;
}

}  // namespace

gth_tensor_desc output_desc(const core::Plan& plan, const Operands& operands) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  desc.dtype = operands.params->desc.dtype;
  desc.device = operands.context->device;
  desc.device_id = operands.context->device_id;
  desc.ndim = plan.ndim;
  desc.shape = plan.shape;
  return desc;
}

int64_t element_count(const core::Plan& plan) {
  int64_t count = 1;
  for (int32_t i = 0; i < plan.ndim; ++i) count *= plan.shape[i];
  return count;
}

int32_t gather_desc(Op op, gth_context* handle, const gth_tensor_desc* params, const gth_tensor_desc* indices,
                    const gth_options* options, const gth_tensor_desc* out, const Error& error) {
  if (!params) return fail_null(GTH_OPERAND_PARAMS, error);
  if (!indices) return fail_null(GTH_OPERAND_INDICES, error);
  if (!out) return fail_null(GTH_OPERAND_OUT, error);
  Request request{op, Open::none, params, indices, out, options, 0, 0};
  const Context* context = nullptr;
  if (!find_context(handle, &context, Error(nullptr)) && gather_shortly(*context, request)) return GTH_OK;
  if (int32_t status = core::check_structs(request, error)) return status;
  if (int32_t status = find_context(handle, &context, error)) return status;
  request.device = context->device;
  request.device_id = context->device_id;
  return gather_described(*context, request, error);
}

int32_t gather_into(Op op, gth_context* context, const gth_tensor* params, const gth_tensor* indices,
                    const gth_options* options, const gth_tensor* out, const Error& error) {
  if (!out) return fail_null(GTH_OPERAND_OUT, error);
  Operands operands{};
  if (int32_t status = find_operands(op, context, params, indices, options, &operands, error)) return status;
  const Tensor* target = nullptr;
  if (int32_t status = find_tensor(out, GTH_OPERAND_OUT, &target, error)) return status;
  const Request request = request_of(op, operands, &target->desc, options);
  return gather_shortly(*operands.context, request) ? GTH_OK : gather_described(*operands.context, request, error);
}

int32_t gather_new(Op op, gth_context* context, const gth_tensor* params, const gth_tensor* indices,
                   const gth_options* options, gth_tensor** out, const Error& error) {
  Operands operands{};
  if (int32_t status = find_operands(op, context, params, indices, options, &operands, error)) return status;
  Plan plan;
  if (int32_t status = core::lower(request_of(op, operands, nullptr, options), &plan, error)) return status;
  return is_string(operands.params->desc) ? gather_strings(operands, plan, out, error)
                                          : gather_numbers(operands, plan, out, error);
}

int32_t query_shape(Op op, const gth_tensor_desc* indexed, const gth_tensor_desc* indices, const gth_options* options,
                    int32_t capacity, int32_t* ndim, int64_t* shape, const Error& error) {
  if (!indexed) return fail_null(core::operation_of(op).roles().indexed, error);
  if (!indices) return fail_null(GTH_OPERAND_INDICES, error);
  if (!ndim) return error.fail({GTH_E_NULL}, "ndim is NULL");
  const Request request{op, Open::any, indexed, indices, nullptr, options, 0, 0};
  if (int32_t status = core::check_structs(request, error)) return status;
  core::Geometry geometry;
  if (int32_t status = core::query_geometry(request, &geometry, error)) return status;
  return write_shape(geometry.ndim, geometry.shape, capacity, ndim, shape, error);
}

}  // namespace gather::api
