#include "api/scatter_forms.hpp"

#include "api/execute.hpp"
#include "core/lower.hpp"

namespace gather::api {
namespace {

using core::Op;
using core::Open;
using core::Plan;
using core::Request;

int32_t check_given(const void* target, const void* indices, const void* updates, const Error& error) {
  if (!target) return fail_null(GTH_OPERAND_TARGET, error);
  if (!indices) return fail_null(GTH_OPERAND_INDICES, error);
  return updates ? GTH_OK : fail_null(GTH_OPERAND_UPDATES, error);
}

int32_t find_operands(gth_context* context, const gth_tensor* target, const gth_tensor* indices,
                      const gth_tensor* updates, Scattered* out, const Error& error) {
  if (int32_t status = find_context(context, &out->context, error)) return status;
  if (int32_t status = find_tensor(target, GTH_OPERAND_TARGET, &out->target, error)) return status;
  if (int32_t status = find_tensor(indices, GTH_OPERAND_INDICES, &out->indices, error)) return status;
  return find_tensor(updates, GTH_OPERAND_UPDATES, &out->updates, error);
}

int32_t scatter_described(const Context& context, const Request& request, const Error& error) {
  if (request.params->dtype == GTH_DTYPE_STRING) {
    return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_TARGET, -1, -1, GTH_DTYPE_STRING, 0},
                      "target: strings are scattered by the functional form only");
  }
  Plan plan;
  if (int32_t status = core::lower(request, &plan, error)) return status;
  return run_plan(context, plan, request, error);
}

// The dense copy of a tensor, before it has memory.
gth_tensor_desc dense_of(const Tensor& tensor, const Context& context) {
  gth_tensor_desc desc = tensor.desc;
  desc.strides = nullptr;
  desc.offset = 0;
  desc.extent = 0;
  desc.flags = 0;
  desc.device = context.device;
  desc.device_id = context.device_id;
  return desc;
}

}  // namespace

Request request_of(Op op, const gth_tensor_desc* target, const Scattered& operands, const gth_options* options) {
  return {op,
          Open::none,
          target,
          &operands.indices->desc,
          &operands.updates->desc,
          options,
          operands.context->device,
          operands.context->device_id};
}

int32_t run_plan(const Context& context, const Plan& plan, const Request& request, const Error& error) {
  const core::Pointers pointers = pointers_of(request.params->data, request.indices->data, request.out->data);
  if (int32_t status = core::check_run(plan, pointers, GTH_OPEN, nullptr, error)) return status;
  return execute_once(context, plan, pointers, Output::callers, error);
}

// `request` points at the storage's memory by its target.
int32_t run_into_new(const Context& context, const Plan& plan, const Request& request, Storage* storage,
                     gth_tensor** out, const Error& error) {
  int32_t status = run_plan(context, plan, request, error);
  if (!status) status = make_tensor(*request.params, storage, out, error);
  if (status) storage->release();
  return status;
}

int32_t describe_request(Op op, gth_context* handle, const gth_tensor_desc* target, const gth_tensor_desc* indices,
                         const gth_tensor_desc* updates, const gth_options* options, const Context** context,
                         Request* request, const Error& error) {
  if (int32_t status = check_given(target, indices, updates, error)) return status;
  *request = {op, Open::none, target, indices, updates, options, 0, 0};
  if (int32_t status = core::check_structs(*request, error)) return status;
  if (int32_t status = find_context(handle, context, error)) return status;
  request->device = (*context)->device;
  request->device_id = (*context)->device_id;
  return GTH_OK;
}

int32_t scatter_desc(Op op, gth_context* handle, const gth_tensor_desc* target, const gth_tensor_desc* indices,
                     const gth_tensor_desc* updates, const gth_options* options, const Error& error) {
  const Context* context = nullptr;
  Request request;
  if (int32_t status = describe_request(op, handle, target, indices, updates, options, &context, &request, error)) {
    return status;
  }
  return scatter_described(*context, request, error);
}

int32_t scatter_into(Op op, gth_context* context, const gth_tensor* target, const gth_tensor* indices,
                     const gth_tensor* updates, const gth_options* options, const Error& error) {
  if (int32_t status = check_given(target, indices, updates, error)) return status;
  if (int32_t status = core::check_options(options, op, error)) return status;
  Scattered operands;
  if (int32_t status = find_operands(context, target, indices, updates, &operands, error)) return status;
  return scatter_described(*operands.context, request_of(op, &operands.target->desc, operands, options), error);
}

// Into a dense copy of the target.
int32_t scatter_new(Op op, gth_context* context, const gth_tensor* target, const gth_tensor* indices,
                    const gth_tensor* updates, const gth_options* options, gth_tensor** out, const Error& error) {
  if (int32_t status = check_given(target, indices, updates, error)) return status;
  if (int32_t status = core::check_options(options, op, error)) return status;
  Scattered operands;
  if (int32_t status = find_operands(context, target, indices, updates, &operands, error)) return status;
  gth_tensor_desc copy = dense_of(*operands.target, *operands.context);
  const Request request = request_of(op, &copy, operands, options);
  Plan plan;
  if (int32_t status = core::lower(request, &plan, error)) return status;
  if (copy.dtype == GTH_DTYPE_STRING) return scatter_strings(operands, plan, out, error);
  Storage* storage;
  int32_t status = copy_dense(*operands.context, *operands.target, &copy, &storage, error);
  return status ? status : run_into_new(*operands.context, plan, request, storage, out, error);
}

}  // namespace gather::api
