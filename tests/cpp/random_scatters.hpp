#pragma once

#include "hostile.hpp"
#include "limits.hpp"
#include "random_operands.hpp"
#include "scatter_oracle.hpp"

// Random scatters.
namespace oracle::scatters {

struct Case {
  ScatterProblem problem;
  gth_options options = GTH_OPTIONS_INIT;
  int64_t open = -1;  // the open dim of indices in plans. It is 0 if it is also a dim of the target.
};

inline const calls::Operation& op_of(const ScatterProblem& problem) {
  return problem.is_elements ? calls::scatter_elements : problem.is_nd ? calls::scatter_nd : calls::scatter;
}

// Long dims are rare. With them, lines run along and beside each other, and across block borders.
inline int64_t extent_of(Random& random) { return random.chance(5) ? random.between(15, 300) : random.extent(); }

inline void choose_slices(Random& random, Case* c) {
  ScatterProblem& problem = c->problem;
  const int64_t r = random.between(1, 4);
  problem.batch = random.chance(60) ? 0 : random.below(r);
  const int64_t tuple_dims = random.below(4);
  for (int64_t d = 0; d < r; ++d) problem.params.shape.push_back(extent_of(random));
  Shape& shape = problem.indices.shape;
  shape.assign(problem.params.shape.begin(), problem.params.shape.begin() + problem.batch);
  for (int64_t d = 0; d < tuple_dims; ++d) shape.push_back(extent_of(random));
  if (problem.is_nd) {
    problem.axis = problem.batch;
    problem.components = random.between(0, r - problem.batch);
    shape.push_back(problem.components);
  } else {
    problem.axis = random.between(problem.batch, r - 1);
  }
  problem.out.shape = output_shape(problem);
  c->options.batch_dims = problem.batch;
  c->options.has_axis = problem.is_nd ? 0 : 1;
  c->options.axis = problem.is_nd ? 0 : problem.axis;
  if (random.chance(50)) {
    if (problem.batch > 0)
      c->open = 0;
    else if (tuple_dims > 0)
      c->open = random.below(tuple_dims);
  }
}

inline void choose_pairs(Random& random, Case* c) {
  ScatterProblem& problem = c->problem;
  const int64_t rank = random.between(1, 4);
  problem.axis = random.below(rank);
  problem.extents = static_cast<Extents>(random.between(1, 3));
  for (int64_t d = 0; d < rank; ++d) {
    int64_t extent = extent_of(random), other = extent;
    if (d == problem.axis)
      other = extent_of(random);
    else if (problem.extents == Extents::prefix && random.chance(40))
      other = random.below(extent + 1);
    else if (problem.extents == Extents::broadcast && random.chance(30))
      (random.chance(50) ? extent : other) = 1;
    problem.params.shape.push_back(extent);
    problem.indices.shape.push_back(other);
  }
  problem.out.shape = elements_shape(problem);
  c->options.has_axis = 1;
  c->options.axis = problem.axis;
  c->options.extents = static_cast<int32_t>(problem.extents);
  if (random.chance(40)) c->open = problem.axis;
}

inline bool takes(int32_t dtype, int32_t reduction) { return !is_complex(dtype) || reduction <= GTH_REDUCTION_MUL; }

inline void choose_switches(Random& random, Case* c) {
  ScatterProblem& problem = c->problem;
  gth_options& options = c->options;
  problem.params.dtype = problem.out.dtype = dtypes[random.below(15)];
  problem.indices.dtype = index_dtypes[random.below(8)];
  problem.params.item = problem.out.item = gth_dtype_size(problem.params.dtype);
  problem.indices.item = gth_dtype_size(problem.indices.dtype);
  options.negative = static_cast<int32_t>(random.below(3));
  constexpr int32_t bounds[] = {0, GTH_BOUNDS_ERROR, GTH_BOUNDS_CLAMP, GTH_BOUNDS_MODULO, GTH_BOUNDS_SKIP};
  options.bounds = bounds[random.below(5)];
  if (options.negative) problem.negative = options.negative;
  if (options.bounds) problem.bounds = options.bounds;
  do {
    options.reduction = static_cast<int32_t>(random.below(6));
  } while (!takes(problem.params.dtype, options.reduction));
  if (options.reduction) problem.reduction = options.reduction;
  options.accumulate = static_cast<int32_t>(random.below(3));
  problem.in_float32 = options.accumulate == GTH_ACCUMULATE_FLOAT32 && is_half(problem.params.dtype) &&
                       (options.reduction == GTH_REDUCTION_ADD || options.reduction == GTH_REDUCTION_MUL);
}

// Returns numbers whose sums and products are rounded, overflow, or are NaN.
inline double number(Random& random) {
  constexpr double rare[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 65504, 6e-8, -3e-5, 1e-40, 3e38, 1.0 / 3};
  if (random.chance(8)) return rare[random.below(11)];
  return random.chance(30) ? static_cast<double>(random.between(-9, 9))
                           : static_cast<double>(random.between(-4000, 4000)) / 64;
}

// Complex numbers have integer parts, because implementations round products of other numbers differently.
inline void fill_numbers(Random& random, Operand* x) {
  for_each_element(*x, [&](int64_t at, const Shape&) {
    char* to = x->memory.data() + at;
    if (is_float(x->dtype)) encode_float(x->dtype, number(random), to);
    if (!is_complex(x->dtype)) return;
    const bool narrow = x->dtype == GTH_DTYPE_COMPLEX64;
    for (int part = 0; part < 2; ++part) {
      const int64_t value = random.between(-3, 3);
      narrow ? write_as(to + part * 4, static_cast<float>(value)) : write_as(to + part * 8, static_cast<double>(value));
    }
  });
}

// Makes the memory of a case whose shapes and options are known.
inline void fill(Random& random, Case* c) {
  ScatterProblem& problem = c->problem;
  lay_out(random, true, &problem.params);
  lay_out(random, false, &problem.indices);
  lay_out(random, false, &problem.out);
  if (problem.components > 0) fill_indices(random, &problem, 60);
  fill_numbers(random, &problem.params);
  fill_numbers(random, &problem.out);
  // Strides were generated for this extent. They are meaningless along a dim of 0 or 1.
  if (c->open >= 0 && problem.indices.shape[static_cast<size_t>(c->open)] < 2) c->open = -1;
}

inline Case make_case(Random& random) {
  Case c;
  ScatterProblem& problem = c.problem;
  const int64_t kind = random.below(3);
  problem.is_nd = kind == 1;
  problem.is_elements = kind == 2;
  problem.is_elements ? choose_pairs(random, &c) : choose_slices(random, &c);
  choose_switches(random, &c);
  if (hostile::count_of(problem.out.shape) > 20000 || hostile::count_of(problem.params.shape) > 20000)
    return make_case(random);
  fill(random, &c);
  return c;
}

// Sets the options that few scatters have.
inline void choose_rare_switches(Random& random, Case* c) {
  ScatterProblem& problem = c->problem;
  gth_options& options = c->options;
  choose_padding(random, &problem, &options);
  const int32_t dtype = problem.params.dtype;
  if (random.chance(25) && dtype != GTH_DTYPE_BOOL) problem.reduction = options.reduction = GTH_REDUCTION_MEAN;
  options.initial = random.chance(60) ? 0 : static_cast<int32_t>(random.between(1, 2));
  options.accumulate = static_cast<int32_t>(random.below(4));
  options.order = static_cast<int32_t>(random.below(GTH_ORDER_ANY + 1));  // The CPU ignores it.
  problem.starts_with_update = options.initial == GTH_INITIAL_UPDATE;
  const int32_t reduction = problem.reduction;
  const bool sums = problem.reduces() && reduction != GTH_REDUCTION_MAX && reduction != GTH_REDUCTION_MIN;
  problem.in_float32 = sums && is_half(dtype) && options.accumulate >= GTH_ACCUMULATE_FLOAT32;
  problem.in_float64 = sums && dtype == GTH_DTYPE_FLOAT32 && options.accumulate == GTH_ACCUMULATE_FLOAT64;
}

// Repeats indices in runs of `length` elements on average.
inline void repeat_indices(Random& random, int64_t length, Operand* indices) {
  char* const memory = indices->memory.data();
  int64_t before = -1;
  for_each_element(*indices, [&](int64_t at, const Shape&) {
    const bool repeats = before >= 0 && random.below(length) > 0;
    if (repeats) std::memcpy(memory + at, memory + before, static_cast<size_t>(indices->item));
    before = at;
  });
}

// Returns a scatter whose slices have sizes around the limits of elements, or whose tuples are as many as a block.
inline Case make_border(Random& random) {
  constexpr int64_t elements[] = {16, limits::sum_elements, 2 * limits::sum_elements, limits::min_striped / 4};
  constexpr int64_t tuples[] = {limits::min_kernel_tuples, limits::max_packed, limits::block_tuples,
                                2 * limits::block_tuples, 4 * limits::block_tuples};
  Case c;
  ScatterProblem& problem = c.problem;
  const int64_t kind = random.below(3);
  const bool is_wide = random.chance(50);
  const int64_t width = is_wide ? elements[random.below(4)] + random.between(-1, 80) : random.between(1, 6);
  const int64_t count = is_wide ? random.between(1, 9) : tuples[random.below(5)] + random.between(-1, 2);
  const int64_t rows = random.between(1, random.chance(50) ? 3 : 70), outer = random.between(1, 3);
  problem.is_nd = kind == 1;
  problem.is_elements = kind == 2;
  problem.axis = problem.is_nd || random.chance(50) ? 0 : 1;
  problem.params.shape = {rows, width};
  problem.indices.shape = {count};
  if (problem.axis == 1) problem.params.shape.insert(problem.params.shape.begin(), outer);
  if (problem.is_nd) problem.indices.shape.push_back(1);
  if (problem.is_elements) {
    problem.indices.shape = problem.params.shape;
    problem.indices.shape[static_cast<size_t>(problem.axis)] = count;
    if (problem.axis == 1 && random.chance(50)) {  // lines along the axis
      problem.params.shape.pop_back();
      problem.indices.shape.pop_back();
    }
  }
  problem.out.shape = problem.is_elements ? elements_shape(problem) : output_shape(problem);
  c.options.has_axis = problem.is_nd ? 0 : 1;
  c.options.axis = problem.axis;
  if (problem.is_elements) c.options.extents = static_cast<int32_t>(problem.extents);
  choose_switches(random, &c);
  fill(random, &c);
  if (random.chance(30)) repeat_indices(random, 10, &problem.indices);
  return c;
}

// Returns sums along the last dim, in lines that are longer than a block of tuples.
inline Case make_long_sums(Random& random) {
  Case c;
  ScatterProblem& problem = c.problem;
  problem.is_elements = true;
  problem.axis = 1;
  const int64_t lines = random.between(1, 12), length = random.chance(50) ? 2000 : 600;
  problem.params.shape = {lines, random.between(1, 60)};
  problem.indices.shape = problem.out.shape = {lines, random.between(250, length)};
  c.options.has_axis = 1;
  c.options.axis = problem.axis;
  c.options.extents = static_cast<int32_t>(problem.extents);
  choose_switches(random, &c);
  if (problem.reduction != GTH_REDUCTION_ADD || (!is_half(problem.params.dtype) && random.chance(50)))
    return make_long_sums(random);
  fill(random, &c);
  if (random.chance(50)) repeat_indices(random, 10, &problem.indices);
  return c;
}

}  // namespace oracle::scatters
