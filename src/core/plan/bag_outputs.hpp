#pragma once

#include <cstdint>

#include "gather/gather.h"

namespace gather::core {

// What a call of the gradients and positions of bags computes.
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

}  // namespace gather::core
