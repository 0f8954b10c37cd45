#pragma once

#include "api/context.hpp"
#include "api/tensor.hpp"
#include "core/apart.hpp"
#include "core/plan.hpp"

namespace gather::api {

// The handles of a call.
struct Operands {
  const Context* context = nullptr;
  const Tensor* params;
  const Tensor* indices;
};

// The description of a plan's dense output, without data.
gth_tensor_desc output_desc(const core::Plan& plan, const Operands& operands);

int64_t element_count(const core::Plan& plan);

// Strings are gathered into new memory: offsets, then bytes.
GATHER_APART int32_t gather_strings(const Operands& operands, const core::Plan& plan, gth_tensor** out,
                                    const Error& error);

}  // namespace gather::api
