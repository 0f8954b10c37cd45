#pragma once

#include <cstdint>

#include "core/meaning/geometry.hpp"
#include "core/options/options.hpp"

// Shapes of operations in which every dim but the axis is the same dim of params, indices and the output.
namespace gather::core {

int32_t check_paired_ranks(const Settings& settings, const gth_tensor_desc& params, const gth_tensor_desc& indices,
                           const Error& error);

// Holds the other dims' extents against each other by the switch and composes the output's shape. The axis is resolved.
int32_t resolve_pairs(const Settings& settings, const gth_tensor_desc& params, const gth_tensor_desc& indices,
                      Open open, Geometry* out, const Error& error);

// As dims_of: a dim of extent 1 that is repeated is none.
DimPair paired_dims(const Geometry& geometry, int32_t out_dim, const gth_tensor_desc& params,
                    const gth_tensor_desc& indices);

}  // namespace gather::core
