#pragma once

#include <cstdint>
#include <cstring>

#include "oracle.hpp"

// A slow gather_elements that follows the definition. For axis 1, element (i, j, k) of the output is params[i,
// indices[i, j, k], k]. It shares no code with the library.
namespace oracle {

// The rule for the extents beside the axis. The numbers are those of gth_options.
enum class Extents : int32_t { equal = 1, prefix = 2, broadcast = 3 };

// A normalised gather_elements. params and indices have the same rank of at least 1, and 0 <= axis < rank. batch and
// components have their default values.
struct ElementsProblem : Problem {
  Extents extents = Extents::equal;
};

// Extents of params and indices that the rule does not allow.
struct Disagreement {
  int32_t dim = -1;  // -1: all extents agree
  int64_t indices = 0, params = 0;
};

inline bool extents_agree(Extents rule, int64_t params, int64_t indices) {
  if (params == indices) return true;
  if (rule == Extents::prefix) return indices < params;
  return rule == Extents::broadcast && (params == 1 || indices == 1);
}

inline Disagreement first_disagreement(const ElementsProblem& problem) {
  for (size_t d = 0; d < problem.params.shape.size(); ++d) {
    const int64_t params = problem.params.shape[d], indices = problem.indices.shape[d];
    if (static_cast<int64_t>(d) == problem.axis || extents_agree(problem.extents, params, indices)) continue;
    return {static_cast<int32_t>(d), indices, params};
  }
  return {};
}

// Returns the shape of indices. With broadcast, an extent of 1 beside the axis is expanded.
inline Shape elements_shape(const ElementsProblem& problem) {
  Shape shape = problem.indices.shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool stretched = problem.extents == Extents::broadcast && shape[d] == 1;
    if (stretched && static_cast<int64_t>(d) != problem.axis) shape[d] = problem.params.shape[d];
  }
  return shape;
}

// Returns the offset of an operand at an element of the output. Every coordinate maps to 0 if the extent is 1.
inline int64_t offset_within(const Operand& operand, const Shape& at) {
  int64_t offset = operand.offset;
  for (size_t d = 0; d < at.size(); ++d) offset += operand.shape[d] == 1 ? 0 : at[d] * operand.strides[d];
  return offset;
}

// Returns the row-major position in indices. Every coordinate maps to 0 if the extent is 1.
inline int64_t position_in(const Shape& shape, const Shape& at) {
  int64_t position = 0;
  for (size_t d = 0; d < shape.size(); ++d) position = position * shape[d] + (shape[d] == 1 ? 0 : at[d]);
  return position;
}

// Returns the source of one output element, or NULL. Records the smallest invalid position in indices.
inline const char* find_element(const ElementsProblem& problem, const Shape& at, Answer* answer) {
  const size_t axis = static_cast<size_t>(problem.axis);
  const int64_t position = position_in(problem.indices.shape, at);
  const Operand &params = problem.params, &indices = problem.indices;
  const char* const index = indices.memory.data() + offset_within(indices, at);
  if (is_padding(problem, index, 1, 0)) return nullptr;
  const Wide value = load(index, indices.dtype);
  const int64_t row = select(problem.negative, problem.bounds, value, params.shape[axis]);
  if (row >= 0) {
    const int64_t to_row = params.shape[axis] == 1 ? 0 : (row - at[axis]) * params.strides[axis];
    return params.memory.data() + offset_within(params, at) + to_row;
  }
  if (position >= answer->position) return nullptr;
  answer->position = position;
  answer->component = 0;
  answer->value = static_cast<int64_t>(value);
  answer->limit = params.shape[axis];
  answer->flags =
      (problem.negative == GTH_NEGATIVE_WRAP ? GTH_ERROR_WRAP : 0) | (value > INT64_MAX ? GTH_ERROR_UNSIGNED : 0);
  return nullptr;
}

// Returns the expected result. Precondition: the extents agree and the output has the shape above.
inline Answer solve_elements(const ElementsProblem& problem) {
  return solve_by(problem, problem.indices.shape,
                  [&](const Shape& at, Answer* answer) { return find_element(problem, at, answer); });
}

}  // namespace oracle
