#pragma once

#include <cstdint>

#include "core/meaning/geometry.hpp"
#include "core/options/options.hpp"

namespace gather::core {

// Returns the dims of table and indices that correspond to dim `out_dim` of rows.
DimPair dims_of(const Geometry& geometry, int32_t out_dim, const gth_tensor_desc& params,
                const gth_tensor_desc& indices);

// Validates ranks, attributes and shapes, in this order. It reads only ndim and shape of the descriptions.
int32_t resolve_geometry(const Settings& settings, const gth_tensor_desc& params, const gth_tensor_desc& indices,
                         Open open, Geometry* out, const Error& error);

// Compare the rank and the shape of a caller's output with the geometry.
int32_t check_output_rank(const Geometry& geometry, const gth_tensor_desc& out, const Error& error);
int32_t check_output_shape(const Geometry& geometry, const gth_tensor_desc& out, const Error& error);

}  // namespace gather::core
