#pragma once

#include "elements_oracle.hpp"
#include "hostile.hpp"
#include "random_operands.hpp"

// Random gather_elements.
namespace oracle::elements {

struct Case {
  ElementsProblem problem;
  gth_options options = GTH_OPTIONS_INIT;
  int64_t open = -1;  // open dim of a plan: the axis, or dim 0 of both
};

// Returns an extent of indices that the rule allows for an extent of params.
inline int64_t partner(Random& random, Extents rule, int64_t extent) {
  if (rule == Extents::prefix) return random.chance(60) ? extent : random.below(extent + 1);
  return rule == Extents::broadcast && random.chance(30) ? 1 : extent;
}

// Long dims are rare. With them, lines run along and beside the axis, and across block borders.
inline int64_t extent_of(Random& random) { return random.chance(6) ? random.between(15, 300) : random.extent(); }

inline void choose_shapes(Random& random, Case* c) {
  ElementsProblem& problem = c->problem;
  const int64_t rank = random.between(1, 4);
  problem.extents = static_cast<Extents>(random.between(1, 3));
  problem.axis = random.below(rank);
  for (int64_t d = 0; d < rank; ++d) {
    int64_t extent = extent_of(random);
    const int64_t other = d == problem.axis ? extent_of(random) : partner(random, problem.extents, extent);
    if (d != problem.axis && problem.extents == Extents::broadcast && random.chance(15)) extent = 1;
    problem.params.shape.push_back(extent);
    problem.indices.shape.push_back(other);
  }
  if (random.chance(40)) {
    const bool shared = problem.axis > 0 && problem.params.shape[0] == problem.indices.shape[0] && random.chance(50);
    c->open = shared ? 0 : problem.axis;
  }
}

inline Case make_case(Random& random) {
  constexpr int64_t most_elements = 1 << 24;
  Case c;
  ElementsProblem& problem = c.problem;
  choose_shapes(random, &c);
  if (hostile::count_of(problem.params.shape) > most_elements ||
      hostile::count_of(problem.indices.shape) > most_elements) {
    return make_case(random);
  }
  problem.params.dtype = problem.out.dtype = dtypes[random.below(15)];
  problem.indices.dtype = index_dtypes[random.below(8)];
  problem.params.item = problem.out.item = gth_dtype_size(problem.params.dtype);
  problem.indices.item = gth_dtype_size(problem.indices.dtype);
  problem.out.shape = elements_shape(problem);
  lay_out(random, false, &problem.params);
  lay_out(random, false, &problem.indices);
  lay_out(random, true, &problem.out);
  fill_indices(random, &problem);
  // Strides were generated for this extent. They are meaningless along a dim of 0 or 1.
  if (c.open >= 0 && problem.indices.shape[static_cast<size_t>(c.open)] < 2) c.open = -1;
  const int64_t rank = static_cast<int64_t>(problem.params.shape.size());
  c.options.has_axis = 1;
  c.options.axis = random.chance(30) ? problem.axis - rank : problem.axis;
  c.options.extents = static_cast<int32_t>(problem.extents);
  oracle::choose_switches(random, &problem, &c.options);
  return c;
}

}  // namespace oracle::elements
