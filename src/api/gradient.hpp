#pragma once

#include "api/context.hpp"
#include "core/plan/pointers.hpp"

namespace gather::api {

// Runs the plan of a gradient. Zeros are written after all validation. Only a race can fail after that.
int32_t run_gradient(const Context& context, const core::Plan& plan, const core::Pointers& pointers,
                     const gth_tensor_desc& target, const Error& error);

}  // namespace gather::api
