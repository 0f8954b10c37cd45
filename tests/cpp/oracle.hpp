#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "gather/gather.h"

// Random gathers and a slow, simple implementation of their definition in the header. It computes one output element at
// a time, and shares no code with the library.
namespace oracle {

using Shape = std::vector<int64_t>;
using Bytes = std::vector<char>;

// A tensor in its own memory. Element i0, i1, .. is at offset + sum of i * strides.
struct Operand {
  int32_t dtype = 0;
  int64_t item = 0;
  Shape shape, strides;
  bool dense = true;  // passed with strides NULL
  int64_t offset = 0;
  Bytes memory;

  gth_tensor_desc desc() const {
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    desc.dtype = dtype;
    desc.ndim = static_cast<int32_t>(shape.size());
    desc.shape = shape.data();
    desc.strides = dense ? nullptr : strides.data();
    desc.data = memory.data();
    desc.offset = offset;
    return desc;
  }
};

// Calls on_element(offset, place) for each element in row-major order.
template <class OnElement>
void for_each_element(const Operand& x, OnElement&& on_element) {
  int64_t count = 1;
  for (int64_t extent : x.shape) count *= extent;
  Shape place(x.shape.size());
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number, at = x.offset;
    for (size_t d = x.shape.size(); d-- > 0; rest /= x.shape[d]) {
      place[d] = rest % x.shape[d];
      at += place[d] * x.strides[d];
    }
    on_element(at, place);
  }
}

// A normalised gather. indices.shape consists of batch dims, tuple dims, and K for gather_nd.
struct Problem {
  bool is_nd = false;
  int64_t batch = 0, axis = 0, components = 1;
  int32_t negative = GTH_NEGATIVE_REJECT, bounds = GTH_BOUNDS_ERROR;
  char fill[16] = {};  // the fill element of bounds = fill and of padding
  bool has_padding = false;
  int64_t padding = 0;
  Operand params, indices, out;

  int64_t tuple_end() const { return static_cast<int64_t>(indices.shape.size()) - (is_nd ? 1 : 0); }
};

struct Answer {
  int32_t status = GTH_OK;
  int64_t position = INT64_MAX;
  int32_t component = -1;
  int64_t value = 0, limit = 0;
  uint32_t flags = 0;
  Bytes memory;  // the memory of the output after the call
};

__extension__ typedef __int128 Wide;

inline Wide load(const char* at, int32_t dtype) {
  const size_t bytes = static_cast<size_t>(dtype % 256) / 8;
  uint64_t bits = 0;
  std::memcpy(&bits, at, bytes);
  if (dtype > 255) return bits;
  const unsigned unused = 64 - 8 * static_cast<unsigned>(bytes);
  return static_cast<int64_t>(bits << unused) >> unused;
}

// Returns the row of a dim of `size` that an index selects, or -1 for none.
inline int64_t select(int32_t negative, int32_t bounds, Wide index, int64_t size) {
  if (negative == GTH_NEGATIVE_WRAP && index < 0) index += size;
  if (index >= 0 && index < size) return static_cast<int64_t>(index);
  if (size == 0 || (bounds != GTH_BOUNDS_CLAMP && bounds != GTH_BOUNDS_MODULO)) return -1;
  if (bounds == GTH_BOUNDS_CLAMP) return index < 0 ? 0 : size - 1;
  return static_cast<int64_t>((index % size + size) % size);
}

// What an id of a bag selects instead of a row.
constexpr int64_t left_out = -1, filled = -2, invalid = -3;

inline int64_t row_of_id(const gth_options& options, Wide id, int64_t rows) {
  if (options.has_padding_index && id == options.padding_index) return left_out;
  const int64_t row = select(options.negative, options.bounds, id, rows);
  if (row >= 0) return row;
  if (options.bounds == GTH_BOUNDS_SKIP) return left_out;
  return options.bounds == GTH_BOUNDS_FILL ? filled : invalid;
}

// Returns true if all `count` components of a tuple are padding. They are `stride` bytes apart.
inline bool is_padding(const Problem& problem, const char* tuple, int64_t count, int64_t stride) {
  bool is_equal = problem.has_padding && count > 0;
  for (int64_t c = 0; c < count; ++c) is_equal &= load(tuple + c * stride, problem.indices.dtype) == problem.padding;
  return is_equal;
}

inline Shape output_shape(const Problem& problem) {
  const Shape &p = problem.params.shape, &i = problem.indices.shape;
  Shape shape(p.begin(), p.begin() + problem.axis);
  shape.insert(shape.end(), i.begin() + problem.batch, i.begin() + problem.tuple_end());
  shape.insert(shape.end(), p.begin() + problem.axis + problem.components, p.end());
  return shape;
}

// Returns the source of one output element, or NULL. Records an invalid tuple if its position is the smallest.
inline const char* find_source(const Problem& problem, const Shape& at, Answer* answer) {
  const Operand &params = problem.params, &indices = problem.indices;
  const int64_t b = problem.batch, a = problem.axis, tuples = problem.tuple_end() - b, k = problem.components;
  const char* index = indices.memory.data() + indices.offset;
  int64_t source = params.offset, position = 0;
  for (int64_t d = 0; d < problem.tuple_end(); ++d) {
    const int64_t i = at[d < b ? d : a + d - b];
    index += i * indices.strides[d];
    position = position * indices.shape[d] + i;
  }
  for (int64_t d = 0; d < a; ++d) source += at[d] * params.strides[d];
  for (size_t d = a + k; d < params.shape.size(); ++d) source += at[d - k + tuples] * params.strides[d];
  if (is_padding(problem, index, k, problem.is_nd ? indices.strides.back() : 0)) return nullptr;
  bool good = true;
  for (int64_t c = 0; c < k && good; ++c) {
    const Wide value = load(index + (problem.is_nd ? c * indices.strides.back() : 0), indices.dtype);
    const int64_t row = select(problem.negative, problem.bounds, value, params.shape[a + c]);
    good = row >= 0;
    source += row * params.strides[a + c];
    if (good || position >= answer->position) continue;
    answer->position = position;
    answer->component = static_cast<int32_t>(c);
    answer->value = static_cast<int64_t>(value);
    answer->limit = params.shape[a + c];
    answer->flags =
        (problem.negative == GTH_NEGATIVE_WRAP ? GTH_ERROR_WRAP : 0) | (value > INT64_MAX ? GTH_ERROR_UNSIGNED : 0);
  }
  return good ? params.memory.data() + source : nullptr;
}

inline bool has_none(const Shape& shape) { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

// Validates the tuples, of this shape, of rows that have no elements. find_from(at, &answer) looks at the tuple of an
// element.
template <class FindFrom>
void find_bad_tuple(const Problem& problem, const Shape& tuples, Answer* answer, FindFrom&& find_from) {
  if (!has_none(problem.out.shape) || has_none(tuples)) return;
  Operand first = problem.out;
  for (int64_t& extent : first.shape) extent = std::max<int64_t>(extent, 1);
  for_each_element(first, [&](int64_t, const Shape& at) { find_from(at, answer); });
}

inline Shape tuples_of(const Problem& problem) {
  const Shape& indices = problem.indices.shape;
  return Shape(indices.begin(), indices.begin() + problem.tuple_end());
}

// Computes the output element by element. find_from(at, &answer) returns the source of each element. `tuples` is the
// shape of the tuples.
template <class FindFrom>
Answer solve_by(const Problem& problem, const Shape& tuples, FindFrom&& find_from) {
  Answer answer;
  find_bad_tuple(problem, tuples, &answer, find_from);
  answer.memory = problem.out.memory;
  const size_t item = static_cast<size_t>(problem.params.item);
  for_each_element(problem.out, [&](int64_t target, const Shape& at) {
    const char* source = find_from(at, &answer);
    const bool fills = problem.bounds == GTH_BOUNDS_FILL || problem.has_padding;
    if (!source && fills && problem.bounds != GTH_BOUNDS_SKIP) source = problem.fill;
    if (source) std::memcpy(answer.memory.data() + target, source, item);
  });
  const bool total = problem.bounds == GTH_BOUNDS_FILL || problem.bounds == GTH_BOUNDS_SKIP;
  if (answer.position == INT64_MAX || total) return answer;
  answer.status = GTH_E_INDEX;
  answer.memory = problem.out.memory;
  return answer;
}

inline Answer solve(const Problem& problem) {
  return solve_by(problem, tuples_of(problem),
                  [&](const Shape& at, Answer* answer) { return find_source(problem, at, answer); });
}

}  // namespace oracle
