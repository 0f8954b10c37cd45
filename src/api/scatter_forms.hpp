#pragma once

#include "api/context.hpp"
#include "api/tensor.hpp"
#include "core/plan.hpp"
#include "core/request.hpp"

// The forms of every scatter, but for those that it shares with gathers (forms.hpp): the target is in the place of params, the
// updates are in that of the output.
namespace gather::api {

int32_t scatter_new(core::Op op, gth_context* context, const gth_tensor* target, const gth_tensor* indices,
                    const gth_tensor* updates, const gth_options* options, gth_tensor** out, const Error& error);

int32_t scatter_into(core::Op op, gth_context* context, const gth_tensor* target, const gth_tensor* indices,
                     const gth_tensor* updates, const gth_options* options, const Error& error);

int32_t scatter_desc(core::Op op, gth_context* context, const gth_tensor_desc* target, const gth_tensor_desc* indices,
                     const gth_tensor_desc* updates, const gth_options* options, const Error& error);

// The handles of a call.
struct Scattered {
  const Context* context = nullptr;
  const Tensor* target = nullptr;
  const Tensor* indices = nullptr;
  const Tensor* updates = nullptr;
};

// What the forms have in common. The request of descriptions, which are checked, and its context; the request of handles; its
// plan run on checked memory, in place, and there as a new tensor, which has the storage or gives it back.
int32_t describe_request(core::Op op, gth_context* handle, const gth_tensor_desc* target,
                         const gth_tensor_desc* indices, const gth_tensor_desc* updates, const gth_options* options,
                         const Context** context, core::Request* request, const Error& error);
core::Request request_of(core::Op op, const gth_tensor_desc* target, const Scattered& operands,
                         const gth_options* options);
int32_t run_plan(const Context& context, const core::Plan& plan, const core::Request& request, const Error& error);
int32_t run_into_new(const Context& context, const core::Plan& plan, const core::Request& request, Storage* storage,
                     gth_tensor** out, const Error& error);

// Strings are scattered into new memory: offsets, then bytes.
int32_t scatter_strings(const Scattered& operands, const core::Plan& plan, gth_tensor** out, const Error& error);

}  // namespace gather::api
