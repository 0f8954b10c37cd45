#include "api/forms.hpp"
#include "api/scatter_forms.hpp"

using namespace gather::api;
using gather::core::Op;

int32_t gth_scatter_nd(gth_context* context, const gth_tensor* target, const gth_tensor* indices,
                       const gth_tensor* updates, const gth_options* options, gth_tensor** out, gth_error* err) {
  return fence(out, err, [&](const Error& error) {
    return scatter_new(Op::scatter_nd, context, target, indices, updates, options, out, error);
  });
}

int32_t gth_scatter_nd_into(gth_context* context, gth_tensor* target, const gth_tensor* indices,
                            const gth_tensor* updates, const gth_options* options, gth_error* err) {
  return fence(err, [&](const Error& error) {
    return scatter_into(Op::scatter_nd, context, target, indices, updates, options, error);
  });
}

int32_t gth_scatter_nd_desc(gth_context* context, const gth_tensor_desc* target, const gth_tensor_desc* indices,
                            const gth_tensor_desc* updates, const gth_options* options, gth_error* err) {
  return fence(err, [&](const Error& error) {
    return scatter_desc(Op::scatter_nd, context, target, indices, updates, options, error);
  });
}

int32_t gth_scatter_nd_shape(const gth_tensor_desc* target, const gth_tensor_desc* indices, const gth_options* options,
                             int32_t capacity, int32_t* ndim, int64_t* shape, gth_error* err) {
  return fence(err, [&](const Error& error) {
    return query_shape(Op::scatter_nd, target, indices, options, capacity, ndim, shape, error);
  });
}

int32_t gth_scatter_nd_plan(const gth_tensor_desc* target, const gth_tensor_desc* indices, const gth_options* options,
                            const gth_tensor_desc* updates, gth_plan** out, gth_error* err) {
  return fence(out, err, [&](const Error& error) {
    return make_plan(Op::scatter_nd, target, indices, options, updates, out, error);
  });
}
