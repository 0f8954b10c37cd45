#pragma once

#include "limits.hpp"
#include "random_operands.hpp"

// Random gathers and gather_nds.
namespace oracle::gathers {

struct Case {
  Problem problem;
  gth_options options = GTH_OPTIONS_INIT;
  // The open dim of indices in plans, which is a tuple dim or batch dim 0. -1 means none.
  int64_t open = -1;
};

// Negative values of the attributes have the same meaning.
inline void choose_attributes(Random& random, Case* c) {
  const Problem& problem = c->problem;
  const int64_t r = static_cast<int64_t>(problem.params.shape.size());
  const int64_t q = static_cast<int64_t>(problem.indices.shape.size());
  c->options.batch_dims = problem.batch;
  if (problem.is_nd) return;
  if (problem.batch < q && random.chance(20)) c->options.batch_dims = problem.batch - q;
  c->options.has_axis = problem.axis != problem.batch || c->options.batch_dims < 0 || random.chance(30);
  if (c->options.has_axis) c->options.axis = random.chance(30) ? problem.axis - r : problem.axis;
}

inline void choose_shapes(Random& random, Case* c) {
  Problem& problem = c->problem;
  problem.is_nd = random.chance(50);
  const int64_t r = random.between(1, 5);
  problem.batch = random.chance(60) ? 0 : random.below(r);
  const int64_t tuple_dims = random.below(4);
  problem.params.shape = random.shape(r);
  Shape& shape = problem.indices.shape;
  shape.assign(problem.params.shape.begin(), problem.params.shape.begin() + problem.batch);
  for (int64_t d = 0; d < tuple_dims; ++d) shape.push_back(random.extent());
  if (problem.is_nd) {
    problem.axis = problem.batch;
    problem.components = random.between(0, r - problem.batch);
    shape.push_back(problem.components);
  } else {
    problem.axis = random.between(problem.batch, r - 1);
  }
  if (random.chance(60) && problem.batch + tuple_dims > 0) {
    c->open =
        problem.batch > 0 && random.chance(50) ? 0 : problem.batch + random.below(std::max<int64_t>(tuple_dims, 1));
    if (c->open > 0 && c->open == problem.batch + tuple_dims) c->open = 0;
    if (c->open > 0 && c->open < problem.batch) c->open = 0;
  }
}

inline Case make_case(Random& random) {
  Case c;
  Problem& problem = c.problem;
  choose_shapes(random, &c);
  problem.params.dtype = problem.out.dtype = dtypes[random.below(15)];
  problem.indices.dtype = index_dtypes[random.below(8)];
  problem.params.item = problem.out.item = gth_dtype_size(problem.params.dtype);
  problem.indices.item = gth_dtype_size(problem.indices.dtype);
  oracle::choose_switches(random, &problem, &c.options);
  choose_attributes(random, &c);
  return c;
}

// Returns a gather whose rows or tuples have sizes around the limits of short forms and blocks.
inline Case make_border(Random& random) {
  constexpr int64_t bytes[] = {64, 512, 2048, 4096, limits::short_row_bytes, limits::short_bytes / 3};
  constexpr int64_t tuples[] = {limits::min_kernel_tuples, limits::max_packed, limits::block_tuples,
                                limits::short_tuples, 4 * limits::block_tuples};
  Case c;
  Problem& problem = c.problem;
  problem.is_nd = random.chance(50);
  problem.params.dtype = problem.out.dtype = dtypes[random.below(15)];
  problem.indices.dtype = index_dtypes[random.below(8)];
  problem.params.item = problem.out.item = gth_dtype_size(problem.params.dtype);
  problem.indices.item = gth_dtype_size(problem.indices.dtype);
  const bool is_wide = random.chance(30);
  const int64_t width =
      is_wide ? bytes[random.below(6)] / problem.params.item + random.between(-1, 1) : random.between(1, 6);
  const int64_t count = is_wide ? random.between(1, 5) : tuples[random.below(5)] + random.between(-1, 1);
  problem.axis = problem.is_nd || random.chance(50) ? 0 : 1;
  problem.components = problem.is_nd ? random.between(1, 2) : 1;
  problem.params.shape = {random.between(1, 9), width};
  if (problem.axis == 1 || problem.components == 2) problem.params.shape.insert(problem.params.shape.begin(), 2);
  problem.indices.shape = {count};
  if (random.chance(30)) problem.indices.shape.insert(problem.indices.shape.begin(), random.between(1, 3));
  if (problem.is_nd) problem.indices.shape.push_back(problem.components);
  oracle::choose_switches(random, &problem, &c.options);
  choose_attributes(random, &c);
  return c;
}

}  // namespace oracle::gathers
