#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/options.hpp"
#include "core/shape.hpp"

namespace gather::core {

// What a plan is lowered from. Of a scatter, params is the target and out are the updates.
struct Request {
  Op op;
  Open open;  // none or one
  const gth_tensor_desc* params;
  const gth_tensor_desc* indices;
  const gth_tensor_desc* out;  // nullptr: dense row-major
  const gth_options* options;
  int32_t device, device_id;  // of the context; device 0: find it in the descriptions
  bool in_order = false;      // tuples are walked in their order, whatever is quicker
};

// What a request means: everything but where its memory lies.
struct Meaning {
  Settings settings;
  Geometry geometry;
  int64_t item;  // bytes of an element
};

// Struct size, flags and reserved fields of a description, of which no more is read than its size says.
int32_t check_desc(const gth_tensor_desc* given, int32_t operand, const Error& error);

// Struct sizes of descriptions and options.
int32_t check_structs(const Request& request, const Error& error);

// Dtypes, definition, ranks, attributes, shapes and sizes, in the order of the contract.
int32_t resolve_meaning(const Request& request, Meaning* out, const Error& error);

// The geometry alone, for a shape query: open extents are handed on, dtypes may be 0.
int32_t query_geometry(const Request& request, Geometry* out, const Error& error);

}  // namespace gather::core
