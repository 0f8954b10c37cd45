#pragma once

#include <cstdint>

#include "core/error.hpp"

namespace gather::core {

enum class Op : int32_t {
  gather,
  gather_nd,
  gather_elements,
  scatter,
  scatter_nd,
  scatter_elements,
  gather_gradient,
  gather_nd_gradient,
  gather_elements_gradient
};
constexpr int32_t op_count = 9;
// Operations that profiles have rules for, in the order of Op: a gradient has those of its gather.
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

// What errors call the tensor that indices select in, and the one that is walked in order.
struct Roles {
  int32_t indexed, linear;
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
  Op rules;  // whose rules it has in the profiles
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
  bool is_gradient() const { return direction == Direction::scatter && rules <= Op::gather_elements; }
};

const Operation& operation_of(Op op);

// The newest definition that is not above `opset` (0: the newest); nullptr if there is none.
const Definition* find_definition(const Operation& operation, int32_t opset);

// The first opset that has the operation.
inline int32_t first_opset(const Operation& operation) {
  return operation.definitions[operation.definition_count - 1].opset;
}

}  // namespace gather::core
