// The operators on memory: calls of the library.
#pragma once

#include "operands.h"

namespace libgather {

at::Tensor gathered(int32_t op, const at::Tensor &params, const at::Tensor &indices, const Attributes &attributes,
                    const at::Scalar &fill_value);
at::Tensor scattered(int32_t op, const at::Tensor &target, const at::Tensor &indices, const at::Tensor &updates,
                     const Attributes &attributes);
at::Tensor summed(int32_t op, const at::Tensor &gradient, const at::Tensor &indices, at::IntArrayRef shape,
                  const Attributes &attributes);

}  // namespace libgather
