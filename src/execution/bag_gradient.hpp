#pragma once

#include <cstdint>

#include "core/meaning/request.hpp"
#include "execution/context.hpp"

// The gradients of gather_bags. The gradient of params is itself a sum of bags: row r of it is the sum of the rows of the
// gradient of out whose bags have read row r. So gather_bags computes it, from ids that are sorted by row. With max and
// min it is a gradient of gather_elements, along the positions of the maxima or minima. A call may also return these.
namespace gather::execution {

// What a call computes.
enum class BagResult : uint8_t { params, sparse, weights, positions };

// Returns whether the rows of the request are the gradient of the output. Positions have no such operand.
inline bool has_gradient(BagResult result) { return result != BagResult::positions; }

// Returns the operand of the errors of the written result.
inline int32_t target_name(BagResult result) { return has_gradient(result) ? GTH_OPERAND_TARGET : GTH_OPERAND_OUT; }

// What a call writes.
struct BagOutputs {
  BagResult result;
  const gth_tensor_desc *target, *unique;  // unique: BagResult::sparse only
  int64_t* count;
};

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
