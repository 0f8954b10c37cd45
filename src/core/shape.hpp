#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/options.hpp"

namespace gather::core {

// Which extents may be GTH_OPEN.
enum class Open : uint8_t {
  none,
  one,  // a plan: one tuple dim, or the outermost batch dim of params and indices alike
  any,  // a shape query
};

// What the shapes of params and indices and the attributes say about a gather.
struct Geometry {
  int32_t batch;       // normalised batch_dims that params and indices share dim by dim
  int32_t axis;        // normalised; for gather_nd the first indexed dim
  bool dealt;          // the tuples are dealt out to params.shape[:axis] in equal shares (BatchRule::divisible)
  int32_t components;  // K
  int32_t tuple_begin, tuple_end;  // dims of indices that count tuples, batch dims excluded
  int32_t ndim;                    // of the output
  int64_t shape[GTH_MAX_NDIM];
};

// Dtypes of params, indices and out under the profile.
int32_t check_dtypes(Op op, const Settings& settings, int32_t params, int32_t indices, int32_t out, const Error& error);
// As check_dtypes for a shape query, which may leave a dtype out as 0.
int32_t check_known_dtypes(Op op, const Settings& settings, int32_t params, int32_t indices, const Error& error);

// Ranks, attributes and shapes, in this order. Only ndim and shape of the descriptions are read.
int32_t resolve_geometry(Op op, const Settings& settings, const gth_tensor_desc& params, const gth_tensor_desc& indices,
                         Open open, Geometry* out, const Error& error);

// Rank and shape of a caller's output against the geometry.
int32_t check_output_rank(const Geometry& geometry, const gth_tensor_desc& out, const Error& error);
int32_t check_output_shape(const Geometry& geometry, const gth_tensor_desc& out, const Error& error);

// Rank of one tensor, and that its shape can be read.
int32_t check_rank(const gth_tensor_desc& desc, int32_t operand, const Error& error);
// Extents of one tensor: none negative, but for GTH_OPEN where `open` allows it.
int32_t check_extents(const gth_tensor_desc& desc, int32_t operand, Open open, const Error& error);

}  // namespace gather::core
