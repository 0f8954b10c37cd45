#pragma once

#include "api/fence.hpp"
#include "core/operation.hpp"

// The forms of every operation: one code path. A handle is its description; a description is checked and lowered to a
// plan; the plan runs.
namespace gather::api {

int32_t gather_new(core::Op op, gth_context* context, const gth_tensor* params, const gth_tensor* indices,
                   const gth_options* options, gth_tensor** out, const Error& error);

int32_t gather_into(core::Op op, gth_context* context, const gth_tensor* params, const gth_tensor* indices,
                    const gth_options* options, const gth_tensor* out, const Error& error);

int32_t gather_desc(core::Op op, gth_context* handle, const gth_tensor_desc* params, const gth_tensor_desc* indices,
                    const gth_options* options, const gth_tensor_desc* out, const Error& error);

// Of gathers and scatters alike: `indexed` is params or target, `linear` the output or updates.
int32_t query_shape(core::Op op, const gth_tensor_desc* indexed, const gth_tensor_desc* indices,
                    const gth_options* options, int32_t capacity, int32_t* ndim, int64_t* shape, const Error& error);

int32_t make_plan(core::Op op, const gth_tensor_desc* indexed, const gth_tensor_desc* indices,
                  const gth_options* options, const gth_tensor_desc* linear, gth_plan** out, const Error& error);

}  // namespace gather::api
