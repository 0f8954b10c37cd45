// The operators on memory: calls of the library.
#pragma once

#include "operands.h"

#include <optional>

namespace libgather {

at::Tensor gathered(int32_t op, const at::Tensor &params, const at::Tensor &indices, const Attributes &attributes,
                    const at::Scalar &fill_value);
at::Tensor scattered(int32_t op, const at::Tensor &target, const at::Tensor &indices, const at::Tensor &updates,
                     const Attributes &attributes);
at::Tensor summed(int32_t op, const at::Tensor &gradient, const at::Tensor &indices, at::IntArrayRef shape,
                  const Attributes &attributes);
at::Tensor pooled(const at::Tensor &params, const at::Tensor &indices, const std::optional<at::Tensor> &bags,
                  const std::optional<at::Tensor> &weights, int64_t count, const Attributes &attributes,
                  const at::Scalar &fill_value);

// Returns the positions of the maxima or minima of a scatter or of gather_bags.
at::Tensor positions_of(int32_t op, const at::Tensor &target, const at::Tensor &indices, const at::Tensor &updates,
                        const Attributes &attributes);
at::Tensor positions_of_bags(const at::Tensor &params, const at::Tensor &indices, const std::optional<at::Tensor> &bags,
                             int64_t count, const Attributes &attributes, const at::Scalar &fill_value);

// Returns the gradients of gather_bags. Of params only the shape is needed, except for a maximum or minimum. Without
// params, no fill value is read.
at::Tensor gradient_of_bags(const at::Tensor &gradient, const std::optional<at::Tensor> &params, at::IntArrayRef shape,
                            const at::Tensor &indices, const std::optional<at::Tensor> &bags,
                            const std::optional<at::Tensor> &weights, int64_t count, const Attributes &attributes,
                            const at::Scalar &fill_value);
// Returns the same gradient of params as a sparse tensor: the rows that were read, in ascending order, and their sums.
at::Tensor sparse_gradient_of_bags(const at::Tensor &gradient, const std::optional<at::Tensor> &params,
                                   at::IntArrayRef shape, const at::Tensor &indices,
                                   const std::optional<at::Tensor> &bags, const std::optional<at::Tensor> &weights,
                                   int64_t count, const Attributes &attributes, const at::Scalar &fill_value);
at::Tensor gradient_of_weights(const at::Tensor &gradient, const at::Tensor &params, const at::Tensor &indices,
                               const std::optional<at::Tensor> &bags, const at::Tensor &weights, int64_t count,
                               const Attributes &attributes, const at::Scalar &fill_value);

// Returns the gradients of a scatter that replaces rows, along axis 0 or by tuples. The gradient of the target is zero
// in replaced rows. The gradient of an update is zero if a later update has replaced its row. `writes` has the
// attributes of the scatter, and `reads` those of the gather that reads the same rows.
struct ReplacedGradients {
  at::Tensor target, updates;
};
ReplacedGradients gradients_of_replaced(int32_t op, const at::Tensor &gradient, const at::Tensor &indices,
                                        const Attributes &writes, const Attributes &reads, bool needs_target,
                                        bool needs_updates);

// Returns the number of the bag of each of `count` indices, for the starts of bags or their offsets.
at::Tensor numbers_of_bags(const at::Tensor &bags, int64_t count);

}  // namespace libgather
