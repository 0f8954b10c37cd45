#pragma once

#include <cstdint>

#include "core/meaning/dtypes.hpp"
#include "core/meaning/geometry.hpp"
#include "core/options/options.hpp"
#include "core/types/codec.hpp"

namespace gather::core {

// A request whose structs have been read: every operand describes memory, and every struct has the known size. An
// operand that the request does not have is nullptr. If its shape is a result, its memory is dense and row-major.
struct Request : ByRole<const gth_tensor_desc*> {
  const Operation* operation;
  Open open;
  RoleSet roles;  // the operands that are not nullptr
  const gth_options* options;
  int32_t device, device_id;         // The device of the context. If device is 0, the descriptions determine it.
  bool in_order = false;             // Tuples must be processed in the order of their positions.
  const gth_codec* codec = nullptr;  // that of a packed table

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
  Codec codec;           // set if the request has a codec
  bool repeats_updates;  // The shape of updates is the end of that of the rows, such as one row or one number.

  // Returns the bytes of an element of an operand, or of the offset of a string.
  int64_t bytes_of(Role role) const { return dtypes[role] == dtypes.table ? item : dtypes[role]->bytes; }
};

}  // namespace gather::core
