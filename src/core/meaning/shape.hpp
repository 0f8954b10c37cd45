#pragma once

#include <cstdint>

#include "core/meaning/geometry.hpp"
#include "core/options/options.hpp"

namespace gather::core {

// Returns the dims of table and indices that correspond to dim `out_dim` of rows.
DimPair dims_of(const Geometry& geometry, int32_t out_dim, const gth_tensor_desc& table,
                const gth_tensor_desc& indices);

// Validates ranks, attributes and shapes, in this order. It reads only ndim and shape of the descriptions.
int32_t resolve_geometry(const Settings& settings, const ByRole<const gth_tensor_desc*>& operands, Open open,
                         Geometry* out, const Error& error);

// Compares the rank and the shape of each operand whose shape is a result with the geometry.
int32_t check_results(const Geometry& geometry, const ByRole<const gth_tensor_desc*>& operands, const Error& error);

}  // namespace gather::core
