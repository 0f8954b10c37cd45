#pragma once

#include <cstdint>

#include "core/error.hpp"

namespace gather::core {

enum class Op : int32_t { gather, gather_nd, gather_elements };
constexpr int32_t op_count = 3;

struct Geometry;
struct Settings;

// One definition of an operation in ONNX.
struct Definition {
  int32_t opset;
  bool has_batch_dims;
  bool allows_negatives;  // by its text: ONNX Runtime counts them from the end in every definition
  bool has_bfloat16;
};

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
  Form form;
  bool has_axis;
  bool has_components;  // the last dim of indices holds the components of a tuple; else a tuple is one index
  bool has_batch_dims;  // outside of ONNX, whose definitions say it themselves
  ResolveAttributes resolve_attributes;
  int32_t definition_count;
  Definition definitions[3];  // the newest first
};

const Operation& operation_of(Op op);

// The newest definition that is not above `opset` (0: the newest); nullptr if there is none.
const Definition* find_definition(const Operation& operation, int32_t opset);

// The first opset that has the operation.
inline int32_t first_opset(const Operation& operation) {
  return operation.definitions[operation.definition_count - 1].opset;
}

}  // namespace gather::core
