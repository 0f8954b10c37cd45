#pragma once

#include "api/operands.hpp"
#include "core/base/apart.hpp"
#include "core/plan/plan.hpp"

// Creating the result of a request.
namespace gather::api {

// The operands of a request whose result is new.
struct Making {
  const Context* context;
  core::Request request;
  const gth_request* given;
};

// Strings are gathered and scattered into new memory: offsets first, then bytes. Every operand of dtype string must be a
// tensor.
GATHER_APART int32_t gather_strings(const Making& making, const core::Plan& plan, gth_tensor** out, const Error& error);
GATHER_APART int32_t scatter_strings(const Making& making, const core::Plan& plan, gth_tensor** out,
                                     const Error& error);

// The string tensor that an operand names.
int32_t find_strings(const gth_tensor_desc* operand, int32_t role, const Tensor** out, const Error& error);

// The description of the dense result of a gather, without data.
gth_tensor_desc result_desc(const Making& making, const core::Plan& plan);

}  // namespace gather::api
