#pragma once

#include <cstdint>

#include "core/base/error.hpp"

namespace gather::core {

// The number of operations that profiles have rules for, from GTH_OP_GATHER on. A gradient uses the rules of its gather.
constexpr int32_t ruled_count = 6;

// One definition of an operation in ONNX.
struct Definition {
  int32_t opset;
  bool has_batch_dims;
  bool allows_negatives;  // by its text: ONNX Runtime counts them from the end in every definition
  bool has_bfloat16;
  int32_t highest_reduction;  // GTH_REDUCTION_*; 0: not of a scatter
};

// A gather reads the table and writes the rows. A scatter reads the rows and writes the table.
enum class Direction : uint8_t { gather, scatter };

// The GTH_OPERAND_* numbers that errors use for the table and the rows of an operation.
struct Roles {
  int32_t table, rows;
};

constexpr Roles roles_of(Direction direction) {
  return direction == Direction::scatter ? Roles{GTH_OPERAND_TARGET, GTH_OPERAND_UPDATES}
                                         : Roles{GTH_OPERAND_PARAMS, GTH_OPERAND_OUT};
}

// How the dims of table, indices and rows correspond.
enum class Form : uint8_t {
  slices,  // batch dims, outer dims, tuple dims, dims of a slice; indices have batch and tuple dims only
  paired,  // every dim but the axis is the same dim of all three
};

// One entry of the table of operations.
struct Operation {
  const char* name;
  int32_t rules;  // the operation whose rules in the profiles apply
  Direction direction;
  Form form;
  bool has_components;        // The last dim of indices holds the components of a tuple. Else a tuple is one index.
  Definition definitions[4];  // in ONNX, the newest first; opset 0 ends the list

  Roles roles() const { return roles_of(direction); }
  bool has_axis() const { return !has_components; }
  bool has_batch_dims() const { return form == Form::slices; }  // outside of ONNX, whose definitions state it

  // The gradient of a gather is a scatter that adds, by the rules of that gather.
  bool is_gradient() const { return direction == Direction::scatter && rules <= GTH_OP_GATHER_ELEMENTS; }
};

// Whether a number is one of GTH_OP_*.
inline bool is_operation(int32_t op) { return op >= 1 && op <= GTH_OP_LAST; }

// The entry of an operation. Precondition: is_operation(op).
const Operation& operation_of(int32_t op);

// The newest definition that is not above `opset` (0: the newest); nullptr if there is none.
const Definition* find_definition(const Operation& operation, int32_t opset);

// The first opset that has the operation.
int32_t first_opset(const Operation& operation);

}  // namespace gather::core
