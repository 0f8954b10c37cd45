#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/meaning/dtypes.hpp"
#include "core/meaning/shape.hpp"
#include "core/options/options.hpp"

namespace gather::core {

// A request whose structs have been read: every operand describes memory, and every struct has the known size. An
// operand that the request does not have is nullptr. If its shape is a result, its memory is dense and row-major.
struct Request : ByRole<const gth_tensor_desc*> {
  const Operation* operation;
  Open open;
  RoleSet roles;  // the operands that are not nullptr
  const gth_options* options;
  int32_t device, device_id;  // The device of the context. If device is 0, the descriptions determine it.
  bool in_order = false;      // Tuples must be processed in the order of their positions.

  // Sets an operand, or removes it if `desc` is nullptr.
  void set(Role role, const gth_tensor_desc* desc) {
    (*this)[role] = desc;
    roles = desc ? roles | set_of(role) : roles & ~set_of(role);
  }
};

// Returns the dtype of the rows of a request, or 0 if the dtype of the table is 0.
inline int32_t rows_dtype_of(const Request& request) {
  const int32_t given = request.options ? request.options->out_dtype : 0;
  return given ? given : request.table->dtype;
}

// The meaning of a request. It does not depend on addresses and strides.
struct Meaning {
  Settings settings;
  Geometry geometry;
  Dtypes dtypes;
  int64_t item;          // bytes of an element of the table, or of the offset of a string
  bool repeats_updates;  // The shape of updates is the end of that of the rows, such as one row or one number.

  // Returns the bytes of an element of an operand, or of the offset of a string.
  int64_t bytes_of(Role role) const { return dtypes[role] == dtypes.table ? item : dtypes[role]->bytes; }
};

// Checks flags and reserved fields of a description, and that it names no tensor. Precondition: its size is valid.
int32_t check_desc(const gth_tensor_desc& desc, int32_t operand, const Error& error);

// Reads a description: checks its size, and calls check_desc.
int32_t read_desc(const gth_tensor_desc* given, gth_tensor_desc* room, const gth_tensor_desc** out, int32_t operand,
                  const Error& error);

// Validates dtypes, definition, ranks, attributes, shapes and sizes, in the order that gather.h promises.
int32_t resolve_meaning(const Request& request, Meaning* out, const Error& error);

// Resolves only the geometry, for a shape query. Open extents stay open in the result. A dtype may be 0.
int32_t query_geometry(const Request& request, Geometry* out, const Error& error);

}  // namespace gather::core
