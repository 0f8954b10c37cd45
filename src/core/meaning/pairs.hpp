#pragma once

#include <cstdint>

#include "core/meaning/geometry.hpp"
#include "core/options/options.hpp"

// Shapes of operations with Form::paired: dim i of table, indices and the output correspond, except for the axis.
namespace gather::core {

int32_t check_paired_ranks(const Settings& settings, const gth_tensor_desc& table, const gth_tensor_desc& indices,
                           const Error& error);

// Compares the extents of the other dims by the rule `extents` of the settings, and sets the shape of the output.
// Precondition: the axis is resolved.
int32_t resolve_pairs(const Settings& settings, const gth_tensor_desc& table, const gth_tensor_desc& indices, Open open,
                      Geometry* out, const Error& error);

// The same as dims_of for Form::paired. A dim of extent 1 is -1, because it is repeated.
DimPair paired_dims(const Geometry& geometry, int32_t out_dim, const gth_tensor_desc& table,
                    const gth_tensor_desc& indices);

}  // namespace gather::core
