#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "environment.hpp"
#include "oracle.hpp"
#include "sanitizers.hpp"

// Random tensors and options for the oracles. GATHER_SEED changes the seed, GATHER_CASES the number of cases.
namespace oracle {

// Under sanitizers an eighth of the cases run, because each takes several times as long. With a given tier, a third of
// them run, because the runs without one use the best tier, and every tier gets the same cases.
inline int64_t random_cases(int64_t otherwise) {
  const int64_t parts = GATHER_SANITIZED ? 8 : std::getenv("GATHER_TIER") ? 3 : 1;
  return environment::number("GATHER_CASES", otherwise / parts);
}

constexpr int32_t dtypes[] = {GTH_DTYPE_BOOL,      GTH_DTYPE_INT8,       GTH_DTYPE_INT16,   GTH_DTYPE_INT32,
                              GTH_DTYPE_INT64,     GTH_DTYPE_UINT8,      GTH_DTYPE_UINT16,  GTH_DTYPE_UINT32,
                              GTH_DTYPE_UINT64,    GTH_DTYPE_FLOAT16,    GTH_DTYPE_FLOAT32, GTH_DTYPE_FLOAT64,
                              GTH_DTYPE_COMPLEX64, GTH_DTYPE_COMPLEX128, GTH_DTYPE_BFLOAT16};
constexpr int32_t index_dtypes[] = {GTH_DTYPE_INT8,  GTH_DTYPE_INT16,  GTH_DTYPE_INT32,  GTH_DTYPE_INT64,
                                    GTH_DTYPE_UINT8, GTH_DTYPE_UINT16, GTH_DTYPE_UINT32, GTH_DTYPE_UINT64};

constexpr int64_t longest = 5;  // largest open extent

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  int64_t below(int64_t end) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(end)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int64_t percent) { return below(100) < percent; }
  int64_t extent() { return chance(5) ? 0 : between(1, 5); }
  uint64_t bits() { return engine_(); }

  Shape shape(int64_t rank) {
    Shape result(static_cast<size_t>(rank));
    for (int64_t& each : result) each = extent();
    return result;
  }

 private:
  std::mt19937_64 engine_;
};

inline Shape dense_strides(const Shape& shape, int64_t item) {
  Shape strides(shape.size());
  for (size_t d = shape.size(); d-- > 0; item *= std::max<int64_t>(shape[d], 1)) strides[d] = item;
  return strides;
}

// Chooses strides for at most this shape: permuted, padded or negative, and also zero for inputs. Then allocates the
// memory.
inline void lay_out(Random& random, bool is_output, Operand* x) {
  const size_t rank = x->shape.size();
  x->dense = random.chance(40);
  x->offset = random.chance(30) ? random.below(9) : 0;
  x->strides = dense_strides(x->shape, x->item);
  std::vector<size_t> order(rank);
  for (size_t d = 0; d < rank; ++d) order[d] = rank - 1 - d;
  if (random.chance(50)) {
    for (size_t d = rank; d > 1; --d) std::swap(order[d - 1], order[static_cast<size_t>(random.below(int64_t(d)))]);
  }
  int64_t span = x->item, low = 0;
  for (size_t d : order) {
    const int64_t steps = std::max<int64_t>(x->shape[d], 1) - 1;
    if (!x->dense) {
      x->strides[d] = span + (random.chance(20) ? random.below(4) : 0);
      if (!is_output && random.chance(6)) x->strides[d] = 0;
      if (random.chance(15)) x->strides[d] = -x->strides[d];
    }
    span += std::abs(x->strides[d]) * steps;
    if (x->strides[d] < 0) low -= x->strides[d] * steps;
  }
  x->offset += low;
  x->memory.resize(static_cast<size_t>(x->offset - low + span));
  for (char& each : x->memory) each = static_cast<char>(random.bits());
}

inline int64_t hostile_value(Random& random, int64_t size, int32_t dtype) {
  if (!random.chance(12)) return size ? random.below(size) : 0;
  const int64_t values[] = {-size - 1,
                            -size,
                            -1,
                            0,
                            size - 1,
                            size,
                            size + 1,
                            INT64_MIN,
                            INT64_MAX,
                            INT64_MIN >> (64 - dtype % 256),
                            INT64_MAX >> (64 - dtype % 256)};
  return values[random.below(11)];
}

// Stores indices at the places that the strides select. All of them are valid in `tame` of 100 cases. If several elements
// share bytes, the last value remains.
inline void fill_indices(Random& random, Problem* problem, int64_t tame = 50) {
  Operand& x = problem->indices;
  const bool is_tame = random.chance(tame);
  for_each_element(x, [&](int64_t at, const Shape& place) {
    const int64_t component = problem->is_nd ? place.back() : 0;
    const int64_t size = problem->params.shape[static_cast<size_t>(problem->axis + component)];
    const int64_t value = is_tame && size ? random.below(size) : hostile_value(random, size, x.dtype);
    std::memcpy(x.memory.data() + at, &value, static_cast<size_t>(x.item));
  });
}

// Returns the default fill: NaN, the smallest signed, the largest unsigned integer, or true.
inline uint64_t fill_of(int32_t dtype) {
  switch (dtype) {
    case GTH_DTYPE_BOOL: return 1;
    case GTH_DTYPE_FLOAT16: return 0x7e00;
    case GTH_DTYPE_BFLOAT16: return 0x7fc0;
    case GTH_DTYPE_FLOAT32:
    case GTH_DTYPE_COMPLEX64: return 0x7fc00000;
    case GTH_DTYPE_FLOAT64:
    case GTH_DTYPE_COMPLEX128: return 0x7ff8000000000000;
    default: return dtype > 255 ? UINT64_MAX : uint64_t{1} << (dtype - 1);
  }
}

inline void choose_switches(Random& random, Problem* problem, gth_options* options) {
  options->negative = static_cast<int32_t>(random.below(3));
  options->bounds = static_cast<int32_t>(random.chance(30) ? 0 : random.below(6));
  options->fill = static_cast<int32_t>(random.below(4));
  for (uint64_t& each : options->fill_value) each = random.bits();
  if (options->negative) problem->negative = options->negative;
  if (options->bounds) problem->bounds = options->bounds;
  const uint64_t by_dtype[2] = {fill_of(problem->params.dtype), 0};
  if (options->fill == GTH_FILL_VALUE) std::memcpy(problem->fill, options->fill_value, 16);
  if (options->fill == GTH_FILL_BY_DTYPE) std::memcpy(problem->fill, by_dtype, 16);
}

// Sets padding, for some calls: the first index, or any small number.
inline void choose_padding(Random& random, Problem* problem, gth_options* options) {
  if (!random.chance(25)) return;
  const Operand& indices = problem->indices;
  const bool is_first =
      random.chance(70) && std::find(indices.shape.begin(), indices.shape.end(), 0) == indices.shape.end();
  const Wide first = is_first ? load(indices.memory.data() + indices.offset, indices.dtype) : 0;
  problem->padding = is_first ? static_cast<int64_t>(first) : random.between(-3, 3);
  problem->has_padding = true;
  options->has_padding_index = 1;
  options->padding_index = problem->padding;
}

}  // namespace oracle
