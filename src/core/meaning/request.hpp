#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/options/options.hpp"
#include "core/meaning/shape.hpp"

namespace gather::core {

// A request whose structs have been read: every operand describes memory, and every struct has the known size.
struct Request {
  int32_t op;  // GTH_OP_*
  Open open;   // none or one
  const gth_tensor_desc* table;
  const gth_tensor_desc* indices;
  const gth_tensor_desc* rows;  // nullptr: dense row-major
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

// Checks flags and reserved fields of a description, and that it describes memory. Its size has been checked.
int32_t check_desc(const gth_tensor_desc& desc, int32_t operand, const Error& error);

// Reads a description that must describe memory: its size, and then as check_desc.
int32_t read_desc(const gth_tensor_desc* given, gth_tensor_desc* room, const gth_tensor_desc** out, int32_t operand,
                  const Error& error);

// Dtypes, definition, ranks, attributes, shapes and sizes, in the order of the contract.
int32_t resolve_meaning(const Request& request, Meaning* out, const Error& error);

// The geometry alone, for a shape query: open extents are handed on, dtypes may be 0.
int32_t query_geometry(const Request& request, Geometry* out, const Error& error);

}  // namespace gather::core
