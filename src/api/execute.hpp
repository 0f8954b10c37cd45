#pragma once

#include "api/context.hpp"
#include "core/plan.hpp"
#include "cpu/run.hpp"
#include "cuda/cuda.hpp"

namespace gather::api {

// Whose memory the output is.
enum class Output : uint8_t { callers, ours };

// Runs a plan on checked pointers where the context is.
inline int32_t execute(const Context& context, const core::Plan& plan, const core::Pointers& pointers, int64_t n,
                       Output output, const Error& error) {
  if (context.cuda) return cuda::run(*context.cuda, plan, pointers, n, output == Output::ours, error);
  return cpu::run(plan, pointers, n, executor_for(context, plan.threads), error);
}

}  // namespace gather::api
