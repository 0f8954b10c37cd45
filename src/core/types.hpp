#pragma once

#include <cstdint>

#include "core/profile.hpp"

// Which dtypes a profile lets through. The systems differ here for reasons of their own; the kernels would take all.
namespace gather::core {

// The newest ONNX definition of the operation that is not above `opset` (0: the newest); 0 if there is none.
int32_t resolve_opset(Op op, int32_t opset);
// The first opset that has the operation.
int32_t first_opset(Op op);

bool allows_params(int32_t profile, Op op, int32_t opset, int32_t dtype);
// dtype is one of the eight integer types.
bool allows_indices(int32_t profile, Op op, int32_t dtype);

}  // namespace gather::core
