// The operators under vmap: its dim becomes an additional first batch dim of all operands.
#pragma once

#include "derivatives.h"
#include "shapes.h"

#include <ATen/functorch/BatchedTensorImpl.h>

// ATen/functorch/PlumbingHelper.h declares these, but it includes a header that no wheel of torch has.
namespace at::functorch {
TORCH_API Tensor makeBatched(Tensor tensor, std::optional<int64_t> dim, int64_t level);
TORCH_API std::tuple<Tensor, std::optional<int64_t>> unwrapTensorAtLevel(const Tensor &tensor, int64_t level);
}  // namespace at::functorch

namespace libgather {

// The operands at the innermost level.
struct Batch {
  int64_t level = -1;
  c10::SymInt size;
  std::vector<Tensor> operands;

  explicit Batch(std::initializer_list<Tensor> given) {
    for (const Tensor &tensor : given) {
      if (const auto *batched = at::functorch::maybeGetBatchedImpl(tensor)) {
        level = std::max(level, batched->level());
      }
    }
    std::vector<std::optional<int64_t>> dims;
    for (const Tensor &tensor : given) {
      auto [value, dim] = at::functorch::unwrapTensorAtLevel(tensor, level);
      if (dim) {
        size = value.sym_size(*dim);
      }
      operands.push_back(value);
      dims.push_back(dim);
    }
    for (size_t i = 0; i < dims.size(); i++) {
      operands[i] = dims[i] ? operands[i].movedim(*dims[i], 0) : expanded(operands[i]);
    }
  }

  Tensor wrapped(const Tensor &result) const { return at::functorch::makeBatched(result, 0, level); }

 private:
  Tensor expanded(const Tensor &tensor) const {
    c10::SymDimVector shape{size};
    append(shape, tensor, 0, tensor.dim());
    return tensor.expand_symint(shape);
  }
};

// A dim that is counted from the end keeps its number.
inline int64_t after_batch(int64_t dim) { return dim < 0 ? dim : dim + 1; }

template <int32_t Op>
Attributes batched(int64_t axis, int64_t batch_dims, Numbers switches) {
  return {after_batch(axis), is_elements(Op) ? 0 : after_batch(batch_dims), switches};
}

using Excluded = c10::impl::ExcludeDispatchKeyGuard;

template <int32_t Op>
Tensor gather_batched(const Tensor &params, const Tensor &indices, int64_t axis, int64_t batch_dims, Numbers switches,
                      const Scalar &fill_value) {
  const Excluded guard(c10::DispatchKey::FuncTorchBatched);
  const Batch batch({params, indices});
  return batch.wrapped(
      call_gather<Op>(batch.operands[0], batch.operands[1], batched<Op>(axis, batch_dims, switches), fill_value));
}

template <int32_t Op>
Tensor scatter_batched(const Tensor &target, const Tensor &indices, const Tensor &given, int64_t axis,
                       int64_t batch_dims, Numbers switches) {
  const Tensor updates = widened<Op>(target, indices, given, {axis, batch_dims, switches});
  const Excluded guard(c10::DispatchKey::FuncTorchBatched);
  const Batch batch({target, indices, updates});
  return batch.wrapped(call_scatter<Op>(batch.operands[0], batch.operands[1], batch.operands[2],
                                        batched<Op>(axis, batch_dims, switches)));
}

// Returns positions in one part of an operand instead of those in all parts, each of which has `count` elements.
inline Tensor within(const Tensor &positions, const c10::SymInt &count) {
  return at::where(positions.lt(0), positions, positions.remainder(Scalar(count.max(1))));
}

template <int32_t Op>
Tensor positions_batched(const Tensor &target, const Tensor &indices, const Tensor &given, int64_t axis,
                         int64_t batch_dims, Numbers switches) {
  const Tensor updates = widened<Op>(target, indices, given, {axis, batch_dims, switches});
  const c10::SymInt count = given.sym_numel();
  const Excluded guard(c10::DispatchKey::FuncTorchBatched);
  const Batch batch({target, indices, updates});
  const Tensor found = call_positions<Op>(batch.operands[0], batch.operands[1], batch.operands[2],
                                          batched<Op>(axis, batch_dims, switches));
  return batch.wrapped(within(found, count));
}

template <int32_t Op>
Tensor gradient_batched(const Tensor &gradient, const Tensor &indices, c10::SymIntArrayRef shape, int64_t axis,
                        int64_t batch_dims, Numbers switches) {
  const Excluded guard(c10::DispatchKey::FuncTorchBatched);
  const Batch batch({gradient, indices});
  c10::SymDimVector larger{batch.size};
  larger.insert(larger.end(), shape.begin(), shape.end());
  return batch.wrapped(
      call_gradient<Op>(batch.operands[0], batch.operands[1], larger, batched<Op>(axis, batch_dims, switches)));
}

// Weights without the dim of vmap are one table for all ids, so that their gradient can be sparse.
inline Tensor embedding_batched(const Tensor &weight, const Tensor &ids, int64_t padding, bool sparse,
                                int64_t batch_dims) {
  const Excluded guard(c10::DispatchKey::FuncTorchBatched);
  const Batch batch({weight, ids});
  const auto [table, dim] = at::functorch::unwrapTensorAtLevel(weight, batch.level);
  const bool is_shared = !dim && batch_dims == 0;
  return batch.wrapped(embedding_operation().call(is_shared ? table : batch.operands[0], batch.operands[1], padding,
                                                  sparse, is_shared ? 0 : batch_dims + 1));
}

}  // namespace libgather
