#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/roles.hpp"

namespace gather::core {

// The number of operations that profiles have rules for, from GTH_OP_GATHER on. A gradient uses the rules of its
// gather.
constexpr int32_t ruled_count = 6;

// One definition of an operation in ONNX.
struct Definition {
  int32_t opset;
  bool has_batch_dims;
  bool allows_negatives;  // The text allows negative indices. ONNX Runtime accepts them in every definition.
  bool has_bfloat16;
  int32_t highest_reduction;  // GTH_REDUCTION_*, or 0 for a gather
};

// A gather reads the table and writes the rows. A scatter reads the rows and writes the table.
enum class Direction : uint8_t { gather, scatter };

// The columns of GATHER_OPERANDS.
enum class Use : uint8_t { absent, read, written, zeroed };
enum class Need : uint8_t { required, optional };
enum class DtypeRule : uint8_t { data, index, as_table, codec };
enum class ShapeRule : uint8_t { own, result };
enum class Access : uint8_t { rows, tuples };

// One operand of an operation.
struct Operand {
  int32_t name;  // GTH_OPERAND_*
  Use use;
  Need need;
  DtypeRule dtype;
  ShapeRule shape;
  Access access;
};

// The operands of an operation, and the roles of each kind of them.
struct Operands : ByRole<Operand> {
  RoleSet present, required, written, zeroed, results, index, as_table, of_rows, of_tuples, of_codec;
};

// The correspondence of the dims of table, indices and rows.
enum class Form : uint8_t {
  slices,  // Rows have batch, outer, tuple and slice dims. Indices have only batch and tuple dims.
  paired,  // Dim i of table, indices and rows correspond, except for the axis.
  bags,    // Rows have a dim of bags, or all dims of indices but the last, and slice dims.
};

// One entry of the list of operations.
struct Operation {
  const char* name;
  int32_t number;  // GTH_OP_*
  int32_t rules;   // the operation whose rules in the profiles apply
  Operands operands;
  Form form;
  bool has_components;        // The last dim of indices holds the components of a tuple, else a tuple is one index.
  Definition definitions[4];  // The definitions in ONNX, the newest first. An entry with opset 0 ends the list.
  Direction direction;

  // Returns the GTH_OPERAND_* number that errors use.
  int32_t name_of(Role role) const { return operands[role].name; }
  bool has_axis() const { return !has_components; }
  bool has_batch_dims() const { return form == Form::slices; }  // With an ONNX profile, Definition overrides it.

  // The gradient of a gather is a scatter with add into zeros. It uses the rules of that gather.
  bool is_gradient() const { return operands.table.use == Use::zeroed; }
};

// Returns true if a number is one of GTH_OP_*.
inline bool is_operation(int32_t op) { return op >= 1 && op <= GTH_OP_LAST; }

// Returns the entry of an operation. Precondition: is_operation(op).
const Operation& operation_of(int32_t op);

// Returns the newest definition that is not above `opset`, or nullptr. If opset is 0, returns the newest one.
const Definition* find_definition(const Operation& operation, int32_t opset);

// Returns the first opset that has the operation.
int32_t first_opset(const Operation& operation);

}  // namespace gather::core
