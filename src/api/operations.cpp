#include "api/run.hpp"

using gather::api::run_operation;

// The exported function of each operation.

int32_t gth_gather(gth_context* context, const gth_tensor_desc* params, const gth_tensor_desc* indices,
                   const gth_tensor_desc* out, const gth_options* options, gth_error* err) {
  return run_operation(context, GTH_OP_GATHER, params, indices, out, options, err);
}

int32_t gth_gather_nd(gth_context* context, const gth_tensor_desc* params, const gth_tensor_desc* indices,
                      const gth_tensor_desc* out, const gth_options* options, gth_error* err) {
  return run_operation(context, GTH_OP_GATHER_ND, params, indices, out, options, err);
}

int32_t gth_gather_elements(gth_context* context, const gth_tensor_desc* params, const gth_tensor_desc* indices,
                            const gth_tensor_desc* out, const gth_options* options, gth_error* err) {
  return run_operation(context, GTH_OP_GATHER_ELEMENTS, params, indices, out, options, err);
}

int32_t gth_gather_bags(gth_context* context, const gth_tensor_desc* params, const gth_tensor_desc* indices,
                        const gth_tensor_desc* bags, const gth_tensor_desc* weights, const gth_tensor_desc* out,
                        const gth_options* options, gth_error* err) {
  gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, params, indices, out, options);
  request.bags = bags;
  request.weights = weights;
  return gather::api::run_any(context, request, err);
}

int32_t gth_scatter(gth_context* context, const gth_tensor_desc* target, const gth_tensor_desc* indices,
                    const gth_tensor_desc* updates, const gth_options* options, gth_error* err) {
  return run_operation(context, GTH_OP_SCATTER, target, indices, updates, options, err);
}

int32_t gth_scatter_nd(gth_context* context, const gth_tensor_desc* target, const gth_tensor_desc* indices,
                       const gth_tensor_desc* updates, const gth_options* options, gth_error* err) {
  return run_operation(context, GTH_OP_SCATTER_ND, target, indices, updates, options, err);
}

int32_t gth_scatter_elements(gth_context* context, const gth_tensor_desc* target, const gth_tensor_desc* indices,
                             const gth_tensor_desc* updates, const gth_options* options, gth_error* err) {
  return run_operation(context, GTH_OP_SCATTER_ELEMENTS, target, indices, updates, options, err);
}

int32_t gth_gather_gradient(gth_context* context, const gth_tensor_desc* target, const gth_tensor_desc* indices,
                            const gth_tensor_desc* gradient, const gth_options* options, gth_error* err) {
  return run_operation(context, GTH_OP_GATHER_GRADIENT, target, indices, gradient, options, err);
}

int32_t gth_gather_nd_gradient(gth_context* context, const gth_tensor_desc* target, const gth_tensor_desc* indices,
                               const gth_tensor_desc* gradient, const gth_options* options, gth_error* err) {
  return run_operation(context, GTH_OP_GATHER_ND_GRADIENT, target, indices, gradient, options, err);
}

int32_t gth_gather_elements_gradient(gth_context* context, const gth_tensor_desc* target,
                                     const gth_tensor_desc* indices, const gth_tensor_desc* gradient,
                                     const gth_options* options, gth_error* err) {
  return run_operation(context, GTH_OP_GATHER_ELEMENTS_GRADIENT, target, indices, gradient, options, err);
}
