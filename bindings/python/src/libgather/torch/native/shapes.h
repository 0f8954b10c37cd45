// The shapes of results for tensors without values. The library validates them, with open extents for symbols.
#pragma once

#include "calls.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/SymBool.h>

namespace libgather {

// Throws the library's error for two extents that differ, or adds a guard if one of them is a symbol.
inline void require_extent(const c10::SymInt &given, const c10::SymInt &required, int32_t operand, int64_t dim) {
  const char *const name = operand == GTH_OPERAND_UPDATES   ? "updates"
                           : operand == GTH_OPERAND_WEIGHTS ? "weights"
                           : operand == GTH_OPERAND_BAGS    ? "bags"
                                                            : "indices";
  if (given.maybe_as_int() && required.maybe_as_int() && given != required) {
    raise(GTH_E_SHAPE, operand, c10::str(name, ": dim ", dim, " is ", given, ", needed is ", required));
  }
  TORCH_SYM_CHECK(given.sym_eq(required), name, ": dim ", dim, " differs from the required extent");
}

inline c10::SymDimVector sizes_of(const Tensor &tensor, int64_t from, int64_t to) {
  const auto sizes = tensor.sym_sizes();
  return {sizes.begin() + from, sizes.begin() + to};
}

inline void append(c10::SymDimVector &shape, const Tensor &tensor, int64_t from, int64_t to) {
  for (int64_t dim = from; dim < to; dim++) {
    shape.push_back(tensor.sym_size(dim));
  }
}

inline void require_batch(const Tensor &table, const Tensor &indices, int64_t batch_dims) {
  for (int64_t dim = 0; dim < batch_dims; dim++) {
    require_extent(indices.sym_size(dim), table.sym_size(dim), GTH_OPERAND_INDICES, dim);
  }
}

inline c10::SymDimVector shape_of_slices(const Tensor &table, const Tensor &indices, const Attributes &a) {
  const int64_t batch_dims = a.batch_dims < 0 ? a.batch_dims + indices.dim() : a.batch_dims;
  const int64_t axis = a.axis < 0 ? a.axis + table.dim() : a.axis;
  require_batch(table, indices, batch_dims);
  c10::SymDimVector shape = sizes_of(table, 0, axis);
  append(shape, indices, batch_dims, indices.dim());
  append(shape, table, axis + 1, table.dim());
  return shape;
}

inline c10::SymDimVector shape_of_tuples(const Tensor &table, const Tensor &indices, const Attributes &a) {
  require_batch(table, indices, a.batch_dims);
  const int64_t components = indices.sym_size(-1).guard_int(__FILE__, __LINE__);
  c10::SymDimVector shape = sizes_of(indices, 0, indices.dim() - 1);
  append(shape, table, a.batch_dims + components, table.dim());
  return shape;
}

// An extent that the library knows is `known`. Otherwise it is that of the indices, or a repeated one.
inline c10::SymDimVector shape_of_elements(const Tensor &table, const Tensor &indices, const Attributes &a,
                                           Numbers known) {
  const int64_t axis = a.axis < 0 ? a.axis + table.dim() : a.axis;
  c10::SymDimVector shape;
  for (int64_t dim = 0; dim < indices.dim(); dim++) {
    const c10::SymInt extent = indices.sym_size(dim), of_table = table.sym_size(dim);
    const bool is_repeated = a[EXTENTS] == GTH_EXTENTS_BROADCAST && extent.maybe_as_int() == 1;
    if (dim != axis && a[EXTENTS] == GTH_EXTENTS_PREFIX) {
      TORCH_SYM_CHECK(extent.sym_le(of_table), "indices: dim ", dim, " is larger than that of the table");
    }
    if (dim != axis && a[EXTENTS] == GTH_EXTENTS_EQUAL) {
      require_extent(extent, of_table, GTH_OPERAND_INDICES, dim);
    }
    const int64_t result = known[static_cast<size_t>(dim)];
    shape.push_back(result != GTH_OPEN ? c10::SymInt(result) : is_repeated && dim != axis ? of_table : extent);
  }
  return shape;
}

// Returns the shape of the rows: the result of a gather, the updates of a scatter.
template <int32_t Op>
c10::SymDimVector shape_of_rows(const Tensor &table, const Tensor &indices, const Attributes &a) {
  const OpenOperand described(table);
  OpenOperand index(indices);
  if (!has_axis(Op) && indices.dim() > 0 && indices.dim() <= GTH_MAX_NDIM) {  // it determines the rank
    index.shape[indices.dim() - 1] = indices.sym_size(-1).guard_int(__FILE__, __LINE__);
  }
  gth_options options = options_of(Op, a);
  if (options.fill == GTH_FILL_VALUE) {
    options.fill = 0;
  }
  const gth_request request = GTH_REQUEST(Op, &described.desc, &index.desc, nullptr, &options);
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  gth_error error = no_error();
  int64_t known[GTH_MAX_NDIM];
  require(gth_infer(&request, &rows, GTH_MAX_NDIM, known, &error), error);
  if constexpr (is_elements(Op)) {
    return shape_of_elements(table, indices, a, Numbers(known, static_cast<size_t>(rows.ndim)));
  } else if constexpr (has_axis(Op)) {
    return shape_of_slices(table, indices, a);
  } else {
    return shape_of_tuples(table, indices, a);
  }
}

// Returns updates of the whole shape. Updates of a smaller rank are one row or one number, which each tuple uses.
// Updates of another shape are returned unchanged, and the library reports the error.
template <int32_t Op>
Tensor widened(const Tensor &target, const Tensor &indices, const Tensor &updates, const Attributes &a) {
  const int64_t batch_dims = a.batch_dims < 0 ? a.batch_dims + indices.dim() : a.batch_dims;
  const bool has_tuples = !has_axis(Op) && indices.dim() > 0;
  const int64_t rank =
      is_elements(Op) ? target.dim()
      : has_axis(Op)  ? target.dim() - 1 + indices.dim() - batch_dims
      : has_tuples ? indices.dim() - 1 + target.dim() - batch_dims - indices.sym_size(-1).guard_int(__FILE__, __LINE__)
                   : 0;
  if (updates.dim() >= rank || !is_in(a[PROFILE], PROFILES_repeats_yes)) {
    return updates;
  }
  const c10::SymDimVector shape = shape_of_rows<Op>(target, indices, a);
  for (int64_t dim = 1; dim <= updates.dim(); dim++) {
    const c10::SymInt given = updates.sym_size(-dim), required = shape[shape.size() - static_cast<size_t>(dim)];
    if (given.maybe_as_int() && required.maybe_as_int() && given != required) {
      return updates;
    }
  }
  return updates.expand_symint(shape);
}

template <int32_t Op>
Tensor gather_meta(const Tensor &params, const Tensor &indices, int64_t axis, int64_t batch_dims, Numbers switches,
                   const Scalar &) {
  return at::empty_symint(shape_of_rows<Op>(params, indices, {axis, batch_dims, switches}), params.options());
}

template <int32_t Op>
Tensor scatter_meta(const Tensor &target, const Tensor &indices, const Tensor &given, int64_t axis, int64_t batch_dims,
                    Numbers switches) {
  const Attributes a{axis, batch_dims, switches};
  const Tensor updates = widened<Op>(target, indices, given, a);
  const c10::SymDimVector shape = shape_of_rows<Op>(target, indices, a);
  if (updates.dim() != static_cast<int64_t>(shape.size())) {
    raise(GTH_E_RANK, GTH_OPERAND_UPDATES, c10::str("updates: rank is ", updates.dim(), ", needed is ", shape.size()));
  }
  if (updates.scalar_type() != target.scalar_type()) {
    raise(GTH_E_DTYPE, GTH_OPERAND_UPDATES,
          c10::str("updates: dtype is ", name_of(dtype_of(updates.scalar_type())), ", needed is ",
                   name_of(dtype_of(target.scalar_type()))));
  }
  for (int64_t dim = 0; dim < updates.dim(); dim++) {
    require_extent(updates.sym_size(dim), shape[static_cast<size_t>(dim)], GTH_OPERAND_UPDATES, dim);
  }
  return at::empty_symint(target.sym_sizes(), target.options());
}

template <int32_t Op>
Tensor positions_meta(const Tensor &target, const Tensor &indices, const Tensor &updates, int64_t axis,
                      int64_t batch_dims, Numbers switches) {
  return at::empty_like(scatter_meta<Op>(target, indices, updates, axis, batch_dims, switches), at::kLong);
}

inline Tensor gradient_meta(const Tensor &gradient, const Tensor &, c10::SymIntArrayRef shape, int64_t, int64_t,
                            Numbers) {
  return at::empty_symint(shape, gradient.options());
}

}  // namespace libgather
