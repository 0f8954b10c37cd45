#include <cstring>

#include "api/copy.hpp"
#include "api/execute.hpp"
#include "api/scatter_forms.hpp"
#include "core/apart.hpp"
#include "core/dtype.hpp"
#include "core/lower.hpp"

// The gradient of a gather: a scatter that adds to zeros.
namespace gather::api {
namespace {

using core::Op;
using core::Plan;
using core::Request;

// Over all elements of a tensor that has been checked, whatever its strides.
GATHER_APART int32_t write_zeros(const Context& context, const gth_tensor_desc& out, const Error& error) {
  const int64_t bytes = core::dense_product(out.shape, 0, out.ndim, core::find_dtype(out.dtype)->bytes);
  if (bytes == 0) return GTH_OK;
  if (!out.data) return error.fail({GTH_E_NULL, GTH_OPERAND_TARGET}, "target: data is NULL");
  if (!out.strides) {
    std::memset(static_cast<char*>(const_cast<void*>(out.data)) + out.offset, 0, static_cast<size_t>(bytes));
    return GTH_OK;
  }
  static const char zeros[16] = {};
  static const int64_t strides[GTH_MAX_NDIM] = {};
  gth_tensor_desc source = GTH_TENSOR_DESC_INIT;
  source.dtype = out.dtype;
  source.ndim = out.ndim;
  source.shape = out.shape;
  source.strides = strides;
  source.data = zeros;
  source.extent = sizeof zeros;
  return run_copy(context, source, out, error);
}

int32_t gradient_desc(Op op, gth_context* handle, const gth_tensor_desc* gradient, const gth_tensor_desc* indices,
                      const gth_options* options, const gth_tensor_desc* out, const Error& error) {
  const Context* context = nullptr;
  Request request;
  if (int32_t status = describe_request(op, handle, out, indices, gradient, options, &context, &request, error)) {
    return status;
  }
  Plan plan;
  if (int32_t status = core::lower(request, &plan, error)) return status;
  const core::Pointers pointers = pointers_of(out->data, indices->data, gradient->data);
  if (int32_t status = core::check_run(plan, pointers, GTH_OPEN, nullptr, error)) return status;
  auto write = [&] { return write_zeros(*context, *out, error); };
  const auto call = [](void* body) { return (*static_cast<decltype(write)*>(body))(); };
  return cpu::run_prepared(plan, cpu::choose_kernels(plan), pointers, {call, &write},
                           executor_for(*context, plan.threads), error);
}

int32_t gradient_new(Op op, gth_context* context, const gth_tensor* gradient, const gth_tensor* indices, int32_t ndim,
                     const int64_t* shape, const gth_options* options, gth_tensor** out, const Error& error) {
  if (!indices) return fail_null(GTH_OPERAND_INDICES, error);
  if (!gradient) return fail_null(GTH_OPERAND_UPDATES, error);
  if (int32_t status = core::check_options(options, op, error)) return status;
  Scattered operands;
  if (int32_t status = find_context(context, &operands.context, error)) return status;
  if (int32_t status = find_tensor(indices, GTH_OPERAND_INDICES, &operands.indices, error)) return status;
  if (int32_t status = find_tensor(gradient, GTH_OPERAND_UPDATES, &operands.updates, error)) return status;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  desc.dtype = operands.updates->desc.dtype;
  desc.device = operands.context->device;
  desc.device_id = operands.context->device_id;
  desc.ndim = ndim;
  desc.shape = shape;
  const Request request = request_of(op, &desc, operands, options);
  Plan plan;
  if (int32_t status = core::lower(request, &plan, error)) return status;
  desc.extent = core::dense_product(shape, 0, ndim, core::find_dtype(desc.dtype)->bytes);
  char* data;
  Storage* storage;
  if (int32_t status = allocate_storage(*operands.context, desc.extent, true, &data, &storage, error)) return status;
  desc.data = data;
  return run_into_new(*operands.context, plan, request, storage, out, error);
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;
using gather::core::Op;

int32_t gth_gather_gradient(gth_context* context, const gth_tensor* gradient, const gth_tensor* indices, int32_t ndim,
                            const int64_t* shape, const gth_options* options, gth_tensor** out, gth_error* err) {
  return fence(out, err, [&](const Error& error) {
    return gradient_new(Op::gather_gradient, context, gradient, indices, ndim, shape, options, out, error);
  });
}

int32_t gth_gather_gradient_desc(gth_context* context, const gth_tensor_desc* gradient, const gth_tensor_desc* indices,
                                 const gth_options* options, const gth_tensor_desc* out, gth_error* err) {
  return fence(err, [&](const Error& error) {
    return gradient_desc(Op::gather_gradient, context, gradient, indices, options, out, error);
  });
}

int32_t gth_gather_nd_gradient(gth_context* context, const gth_tensor* gradient, const gth_tensor* indices,
                               int32_t ndim, const int64_t* shape, const gth_options* options, gth_tensor** out,
                               gth_error* err) {
  return fence(out, err, [&](const Error& error) {
    return gradient_new(Op::gather_nd_gradient, context, gradient, indices, ndim, shape, options, out, error);
  });
}

int32_t gth_gather_nd_gradient_desc(gth_context* context, const gth_tensor_desc* gradient,
                                    const gth_tensor_desc* indices, const gth_options* options,
                                    const gth_tensor_desc* out, gth_error* err) {
  return fence(err, [&](const Error& error) {
    return gradient_desc(Op::gather_nd_gradient, context, gradient, indices, options, out, error);
  });
}

int32_t gth_gather_elements_gradient(gth_context* context, const gth_tensor* gradient, const gth_tensor* indices,
                                     int32_t ndim, const int64_t* shape, const gth_options* options, gth_tensor** out,
                                     gth_error* err) {
  return fence(out, err, [&](const Error& error) {
    return gradient_new(Op::gather_elements_gradient, context, gradient, indices, ndim, shape, options, out, error);
  });
}

int32_t gth_gather_elements_gradient_desc(gth_context* context, const gth_tensor_desc* gradient,
                                          const gth_tensor_desc* indices, const gth_options* options,
                                          const gth_tensor_desc* out, gth_error* err) {
  return fence(err, [&](const Error& error) {
    return gradient_desc(Op::gather_elements_gradient, context, gradient, indices, options, out, error);
  });
}
