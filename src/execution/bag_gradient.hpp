#pragma once

#include <cstdint>

#include "core/meaning/request.hpp"
#include "core/plan/bag_outputs.hpp"
#include "execution/context.hpp"

// The gradients of gather_bags. The gradient of params is itself a sum of bags: row r of it is the sum of the rows of the
// gradient of out whose bags have read row r. So gather_bags computes it, from ids that are sorted by row. With max and
// min it is a gradient of gather_elements, along the positions of the maxima or minima. A call may also return these.
namespace gather::execution {

using core::BagOutputs;
using core::BagResult;
using core::has_gradient;
using core::target_name;

// A call whose operands describe memory.
struct BagCall : BagOutputs {
  const Context& context;
  const core::Request& request;  // of the forward call; its rows are the gradient of the output
};

// Renames the operand rows of a failed forward call, which is the gradient here.
int32_t fail_updates(BagResult result, int32_t status, const Error& error);

// Validates a call and runs it.
int32_t run_bag_call(const BagCall& call, const Error& error);

}  // namespace gather::execution
