#pragma once

#include <cstdint>

#include "core/error.hpp"

namespace gather::core {

// The number of operations that profiles have rules for, from GTH_OP_GATHER on. A gradient uses the rules of its gather.
constexpr int32_t ruled_count = 6;

struct Geometry;
struct Settings;

// One definition of an operation in ONNX.
struct Definition {
  int32_t opset;
  bool has_batch_dims;
  bool allows_negatives;  // by its text: ONNX Runtime counts them from the end in every definition
  bool has_bfloat16;
  int32_t highest_reduction;  // GTH_REDUCTION_*; 0: not of a scatter
};

// Which way rows go: a gather reads what indices select in and writes the output, a scatter reads updates, which have the
// place and the shape of that output, and writes what indices select in.
enum class Direction : uint8_t { gather, scatter };

// The GTH_OPERAND_* numbers that errors use for the table and the rows of an operation.
struct Roles {
  int32_t table, rows;
};

constexpr Roles roles_of(Direction direction) {
  return direction == Direction::scatter ? Roles{GTH_OPERAND_TARGET, GTH_OPERAND_UPDATES}
                                         : Roles{GTH_OPERAND_PARAMS, GTH_OPERAND_OUT};
}

// How the dims of params, of indices and of the output belong together.
enum class Form : uint8_t {
  slices,  // batch dims, outer dims, tuples, a slice: indices know of batch dims and tuples only
  paired,  // every dim but the axis is the same dim of all three
};

// Ranks of params and indices.
struct Ranks {
  int32_t params, indices;
};

// axis and batch_dims against the ranks; sets batch and axis.
using ResolveAttributes = int32_t (*)(const Settings& settings, Ranks ranks, Geometry* out, const Error& error);

// One row of the table of operations: all that tells one from another.
struct Operation {
  const char* name;
  int32_t rules;  // the operation whose rules in the profiles apply
  Direction direction;
  Form form;
  bool has_axis;
  bool has_components;  // the last dim of indices holds the components of a tuple; else a tuple is one index
  bool has_batch_dims;  // outside of ONNX, whose definitions say it themselves
  ResolveAttributes resolve_attributes;
  int32_t definition_count;
  Definition definitions[4];  // the newest first

  Roles roles() const { return roles_of(direction); }

  // The gradient of a gather: a scatter that adds, by the rules of that gather.
  bool is_gradient() const { return direction == Direction::scatter && rules <= GTH_OP_GATHER_ELEMENTS; }
};

// Whether a number is one of GTH_OP_*.
inline bool is_operation(int32_t op) { return op >= 1 && op <= GTH_OP_LAST; }

// The entry of an operation. Precondition: is_operation(op).
const Operation& operation_of(int32_t op);

// The newest definition that is not above `opset` (0: the newest); nullptr if there is none.
const Definition* find_definition(const Operation& operation, int32_t opset);

// The first opset that has the operation.
inline int32_t first_opset(const Operation& operation) {
  return operation.definitions[operation.definition_count - 1].opset;
}

}  // namespace gather::core
