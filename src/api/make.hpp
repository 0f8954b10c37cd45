#pragma once

#include "api/operands.hpp"
#include "core/base/noinline.hpp"
#include "core/plan/plan.hpp"

// Creates the result of a request as a new tensor.
namespace gather::api {

// The operands of a request whose result is new.
struct Making : Found {
  const gth_request* given;
};

// Gather and scatter strings into new memory. They write the offsets first, and then the bytes. Each operand of dtype
// string must name a tensor.
GATHER_NOINLINE int32_t gather_strings(const Making& making, const core::Plan& plan, gth_tensor** out,
                                       const Error& error);
GATHER_NOINLINE int32_t scatter_strings(const Making& making, const core::Plan& plan, gth_tensor** out,
                                        const Error& error);

// Finds the string tensor that an operand names.
int32_t find_strings(const gth_tensor_desc* operand, int32_t role, const Tensor** out, const Error& error);

// Returns GTH_E_NULL if indices have tuples, but no data.
int32_t check_string_indices(const Making& making, const core::Plan& plan, const Error& error);

// Returns the description of the dense result of a gather, without data.
gth_tensor_desc result_desc(const Making& making, const core::Plan& plan);

}  // namespace gather::api
