#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/options/operation.hpp"

namespace gather::core {

// The extents that may be GTH_OPEN.
enum class Open : uint8_t {
  none,
  one,  // For a plan: one tuple dim, or the outermost dim that the table and indices share.
  any,  // For a shape query: every dim.
};

// The values that follow from shapes and attributes alone.
struct Geometry {
  const Operation* operation;
  int32_t batch;         // Form::slices: the normalised batch_dims, equal in table and indices
  int32_t axis;          // the first indexed dim, normalised
  bool has_batch_split;  // The tuples are divided evenly between the batches table.shape[:axis] (BatchRule::divisible).
  int32_t components;    // K
  int32_t tuple_begin, tuple_end;  // the tuple dims of indices, without batch dims
  int32_t ndim;                    // the rank of the output
  int64_t shape[GTH_MAX_NDIM];     // the shape of the output
};

// The dims of table and indices that correspond to a dim of rows, or -1.
struct DimPair {
  int32_t table, indices;
};
// The ranks of table and indices.
struct Ranks {
  int32_t table, indices;
};

// Checks the rank of one tensor, and that its shape is not NULL.
int32_t check_rank(const gth_tensor_desc& desc, int32_t operand, const Error& error);
// Checks the extents of one tensor: none is negative, except GTH_OPEN if `open` allows it.
int32_t check_extents(const gth_tensor_desc& desc, int32_t operand, Open open, const Error& error);

// Checks that the product of the extents, each counted as at least 1, times `bytes` fits int64. Open extents count as
// 1.
int32_t check_size(int32_t ndim, const int64_t* shape, int64_t bytes, int32_t operand, const Error& error);

// Reports an extent that must be equal to `limit`.
int32_t fail_extent(int32_t status, int32_t operand, int32_t dim, int64_t value, int64_t limit, const Error& error);

}  // namespace gather::core
