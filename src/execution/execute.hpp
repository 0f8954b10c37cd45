#pragma once

#include "core/meaning/request.hpp"
#include "core/plan/layout.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/pointers.hpp"
#include "cpu/run_plan.hpp"
#include "cuda/cuda.hpp"
#include "execution/context.hpp"

namespace gather::execution {

using core::count_bytes;
using core::count_elements;
using core::Output;
using core::pointers_of;

inline core::Pointers pointers_of(const core::Request& request) {
  core::Pointers pointers{};
  core::for_each_role(request.roles, [&](core::Role role) GATHER_UNROLLED {
    pointers[role] = static_cast<char*>(const_cast<void*>(request[role]->data));
    return GTH_OK;
  });
  return pointers;
}

// Runs a plan on the device of the context. Precondition: check_run has succeeded.
inline int32_t execute(const Context& context, const core::Plan& plan, const cpu::Kernels& kernels,
                       const core::Pointers& pointers, int64_t n, Output output, const Error& error) {
  if (__builtin_expect(plan.in_files != 0, 0)) {
    return cpu::run_files(plan, kernels, pointers, n, executor_for(context, plan.threads), error);
  }
  if (context.cuda) return cuda::run(*context.cuda, plan, pointers, n, output == Output::ours, error);
  return cpu::run(plan, kernels, pointers, n, output, executor_for(context, plan.threads), error);
}

// The same as execute for a plan that runs once.
inline int32_t execute_once(const Context& context, const core::Plan& plan, const core::Pointers& pointers,
                            Output output, const Error& error) {
  return execute(context, plan, cpu::choose_kernels(plan), pointers, GTH_OPEN, output, error);
}

}  // namespace gather::execution
