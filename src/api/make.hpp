#pragma once

#include "api/operands.hpp"
#include "core/apart.hpp"
#include "core/plan.hpp"

// Creating the result of a request.
namespace gather::api {

// Strings are gathered and scattered into new memory: offsets first, then bytes. All operands of dtype string are tensors.
GATHER_APART int32_t gather_strings(const Operands& operands, const core::Plan& plan, gth_tensor** out,
                                    const Error& error);
GATHER_APART int32_t scatter_strings(const Operands& operands, const core::Plan& plan, gth_tensor** out,
                                     const Error& error);

// The description of the dense result of a gather, without data.
gth_tensor_desc result_desc(const Operands& operands, const core::Plan& plan);

}  // namespace gather::api
