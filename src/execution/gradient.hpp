#pragma once

#include "core/plan/pointers.hpp"
#include "execution/context.hpp"

namespace gather::execution {

// Runs the plan of a gradient. Zeros are written after all validation. Only a race can fail after that.
int32_t run_gradient(const Context& context, const core::Plan& plan, const core::Pointers& pointers,
                     const gth_tensor_desc& target, const Error& error);

}  // namespace gather::execution
