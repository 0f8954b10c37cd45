#pragma once

#include <cstdint>

#include "columns/column.hpp"
#include "columns/trouble.hpp"
#include "cpu/resolve_rows.hpp"
#include "execution/context.hpp"

// Rows that are taken from a column.
namespace gather::execution {

// A take whose structs have been read, and whose indices describe memory.
struct Taking {
  gth_take take;
  const gth_tensor_desc* indices;
  gth_tensor_desc indices_room;
  gth_options options;

  bool has_flag(uint32_t flag) const { return take.flags & flag; }
  bool may_select_null() const { return take.validity || has_flag(GTH_TAKE_NULL) || options.has_padding_index; }
  const char* data() const { return static_cast<const char*>(indices->data); }
  cpu::IndexValidity validity() const { return {static_cast<const uint8_t*>(take.validity), take.validity_offset}; }
};

// The results of a take.
struct Outputs {
  ArrowSchema* schema;  // may be nullptr
  ArrowArray* array;
};

// Reports a fault of a column.
int32_t report(const columns::Trouble& trouble, const Error& error);

int32_t take(const Context& context, const Taking& taking, const columns::Column& column, const Outputs& outputs,
             const Error& error);

// Writes the row that each index of a take selects. `rows` has room for `capacity` of them.
int32_t resolve(const Context& context, const Taking& taking, int64_t extent, int64_t capacity, int64_t* rows,
                const Error& error);

}  // namespace gather::execution
