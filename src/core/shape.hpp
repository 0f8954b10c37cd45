#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/options.hpp"

namespace gather::core {

// Which extents may be GTH_OPEN.
enum class Open : uint8_t {
  none,
  one,  // a plan: one tuple dim, or the outermost dim that params and indices share
  any,  // a shape query
};

// What the shapes of params and indices and the attributes say about a gather. Of a scatter the target is in params'
// place, and the updates, whose shape is that of the output of a gather, in the output's.
struct Geometry {
  Form form;
  Roles roles;
  int32_t batch;       // slices: normalised batch_dims that params and indices share dim by dim
  int32_t axis;        // normalised; the first indexed dim
  bool dealt;          // the tuples are dealt out to params.shape[:axis] in equal shares (BatchRule::divisible)
  int32_t components;  // K
  int32_t tuple_begin, tuple_end;  // dims of indices that count tuples, batch dims excluded
  int32_t ndim;                    // of the output
  int64_t shape[GTH_MAX_NDIM];
};

// The dims of params and of indices that a dim of the output is; -1: none.
struct DimPair {
  int32_t table, indices;
};
DimPair dims_of(const Geometry& geometry, int32_t out_dim, const gth_tensor_desc& params,
                const gth_tensor_desc& indices);

// Ranks, attributes and shapes, in this order. Only ndim and shape of the descriptions are read.
int32_t resolve_geometry(const Settings& settings, const gth_tensor_desc& params, const gth_tensor_desc& indices,
                         Open open, Geometry* out, const Error& error);

// Rank and shape of a caller's output against the geometry.
int32_t check_output_rank(const Geometry& geometry, const gth_tensor_desc& out, const Error& error);
int32_t check_output_shape(const Geometry& geometry, const gth_tensor_desc& out, const Error& error);

// Rank of one tensor, and that its shape can be read.
int32_t check_rank(const gth_tensor_desc& desc, int32_t operand, const Error& error);
// Extents of one tensor: none negative, but for GTH_OPEN where `open` allows it.
int32_t check_extents(const gth_tensor_desc& desc, int32_t operand, Open open, const Error& error);

// Two extents that do not belong together.
int32_t fail_extent(int32_t status, int32_t operand, int32_t dim, int64_t value, int64_t limit, const Error& error);

}  // namespace gather::core
