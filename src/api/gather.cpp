#include "api/forms.hpp"

using namespace gather::api;
using gather::core::Op;

int32_t gth_gather(gth_context* context, const gth_tensor* params, const gth_tensor* indices,
                   const gth_options* options, gth_tensor** out, gth_error* err) {
  return fence(out, err, [&](const Error& error) {
    return gather_new(Op::gather, context, params, indices, options, out, error);
  });
}

int32_t gth_gather_into(gth_context* context, const gth_tensor* params, const gth_tensor* indices,
                        const gth_options* options, gth_tensor* out, gth_error* err) {
  return fence(
      err, [&](const Error& error) { return gather_into(Op::gather, context, params, indices, options, out, error); });
}

int32_t gth_gather_desc(gth_context* context, const gth_tensor_desc* params, const gth_tensor_desc* indices,
                        const gth_options* options, const gth_tensor_desc* out, gth_error* err) {
  return fence(
      err, [&](const Error& error) { return gather_desc(Op::gather, context, params, indices, options, out, error); });
}

int32_t gth_gather_shape(const gth_tensor_desc* params, const gth_tensor_desc* indices, const gth_options* options,
                         int32_t capacity, int32_t* ndim, int64_t* shape, gth_error* err) {
  return fence(err, [&](const Error& error) {
    return query_shape(Op::gather, params, indices, options, capacity, ndim, shape, error);
  });
}

int32_t gth_gather_plan(const gth_tensor_desc* params, const gth_tensor_desc* indices, const gth_options* options,
                        const gth_tensor_desc* output, gth_plan** out, gth_error* err) {
  return fence(out, err,
               [&](const Error& error) { return make_plan(Op::gather, params, indices, options, output, out, error); });
}
