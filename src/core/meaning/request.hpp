#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/meaning/meaning.hpp"
#include "core/meaning/shape.hpp"

namespace gather::core {

// Checks flags and reserved fields of a description, and that it names no tensor and has a codec only if it may be
// packed. Precondition: its size is valid.
int32_t check_desc(const gth_tensor_desc& desc, int32_t operand, bool may_be_packed, const Error& error);

// Reads a description: checks its size, and calls check_desc.
int32_t read_desc(const gth_tensor_desc* given, gth_tensor_desc* room, const gth_tensor_desc** out, int32_t operand,
                  const Error& error);

// Validates dtypes, definition, ranks, attributes, shapes and sizes, in the order that gather.h promises.
int32_t resolve_meaning(const Request& request, Meaning* out, const Error& error);

// Resolves only the geometry, for a shape query. Open extents stay open in the result. A dtype may be 0.
int32_t query_geometry(const Request& request, Geometry* out, const Error& error);

}  // namespace gather::core
