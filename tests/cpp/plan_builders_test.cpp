#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/meaning/request.hpp"
#include "core/options/options.hpp"
#include "core/plan/build.hpp"
#include "core/types/dtype.hpp"
#include "gtest/gtest.h"
#include "random_operands.hpp"

// The two builders make the same plan for each request that build_dense() accepts. GATHER_SEED changes the seed,
// GATHER_CASES the number of cases.
namespace {

using namespace gather::core;
using oracle::Random;
using oracle::Shape;

// Lists the values of all fields of a plan.
class Fields {
 public:
  explicit Fields(const Plan& plan) {
    // The build fails here if a field of Plan is missing. The builders do not set in_files.
    const auto& [line, inner_begin, end, components, index, is_open, wraps, is_empty, checks_when_empty, operation,
                 reducing, is_partial_on_error, has_padding, bounds, padding, refused_dim, device, device_id, threads,
                 in_files, item, row, inner, index_step, offset, largest_n, tuples, slices, fill, reach, nonempty, ndim,
                 shape, split, bags, packed, component, loops] = plan;
    const auto& [number, in_float32, in_float64, is_mean, starts_with_update, any_order, reduction] = reducing;
    const auto& [batches, split_ndim, extents, strides] = split;
    add("line, inner_begin, end, components", {line, inner_begin, end, components});
    add("index, is_open, wraps, is_empty", {static_cast<int64_t>(index), is_open, wraps, is_empty});
    add("checks_when_empty, operation", {checks_when_empty, operation->number});
    add("number, in_float32, in_float64", {static_cast<int64_t>(number), in_float32, in_float64});
    add("is_mean, starts_with_update, any_order", {is_mean, starts_with_update, any_order});
    add("has_padding, padding", {has_padding, padding});
    add("is_partial_on_error, reduction, bounds", {is_partial_on_error, reduction, bounds});
    add("refused_dim, device, device_id, threads", {refused_dim, device, device_id, threads});
    add("item, row", {item.bits, static_cast<int64_t>(item.kind), row.in, row.out});
    add("inner, index_step", {inner, index_step});
    add("offsets", {offset.table, offset.indices, offset.rows, offset.bags, offset.weights});
    add("nonempty, is_packed", {nonempty, packed.is_packed()});
    add("largest_n, tuples, slices", {largest_n, tuples.factor, tuples.by_n, slices.factor, slices.by_n});
    add("fill", {static_cast<int64_t>(fill[0]), static_cast<int64_t>(fill[1])});
    for (Role role : EachRole{nonempty}) {
      const Reach& each = reach[role];
      add("reach", {each.low, each.low_step, each.high, each.high_step, each.empty});
    }
    add("batches, split_ndim, ndim", {batches, split_ndim, ndim});
    add("shape", {shape, shape + ndim});
    add("extents of the split", {extents, extents + split_ndim});
    add("strides of the split", {strides, strides + split_ndim});
    for (int32_t i = 0; i < components; ++i) add("component", {component[i].size, component[i].stride});
    for (int32_t i = 0; i < end; ++i) {
      const Loop& loop = loops[i];
      for (const Scaled* each : {&loop.extent, &loop.table, &loop.indices, &loop.rows, &loop.position}) {
        add("loop", {each->factor, each->by_n});
      }
    }
  }

  std::string text;

 private:
  void add(const char* name, const std::vector<int64_t>& values) {
    text += name;
    for (int64_t value : values) text += ' ' + std::to_string(value);
    text += '\n';
  }
};

// A description of dense memory.
struct Tensor {
  Shape shape, strides;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;

  // The strides of extents of 1 have no effect. They are random.
  void describe(Random& random, int32_t dtype) {
    desc.dtype = dtype;
    desc.ndim = static_cast<int32_t>(shape.size());
    desc.shape = shape.data();
    desc.device = random.chance(20) ? GTH_DEVICE_CUDA_HOST : static_cast<int32_t>(random.below(2));
    desc.offset = random.chance(30) ? random.below(100) : 0;
    const int64_t item = find_dtype(dtype)->bytes;
    strides = oracle::dense_strides(shape, item);
    if (random.chance(20)) {
      desc.extent = desc.offset + item + random.below(4);
      for (int64_t extent : shape) desc.extent += (extent - 1) * desc.extent;
    }
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1 && random.chance(50)) strides[d] = random.between(-9, 9);
    }
    if (random.chance(50)) desc.strides = strides.data();
  }
};

struct Case {
  Tensor table, indices, rows;
  gth_options options = GTH_OPTIONS_INIT;
  bool has_rows;
};

int64_t extent_of(Random& random) {
  const int64_t extents[] = {1, 1, 2, 3, 5, 16, 17, 40};
  return extents[random.below(8)];
}

void add_extents(Random& random, int64_t count, Shape* shape) {
  for (int64_t i = 0; i < count; ++i) shape->push_back(extent_of(random));
}

// The dims of the table are batch, outer, indexed and slice dims.
void choose_shapes(Random& random, const Operation& operation, Case* c) {
  const int64_t batch = random.below(3), outer = operation.has_components ? 0 : random.below(3);
  const int64_t components = operation.has_components ? random.between(1, 3) : 1, slice = random.below(3);
  Shape &table = c->table.shape, &indices = c->indices.shape, &rows = c->rows.shape;
  add_extents(random, batch, &table);
  indices = table;
  add_extents(random, outer, &table);
  rows = table;
  const size_t tuples_begin = indices.size();
  add_extents(random, random.below(3), &indices);
  rows.insert(rows.end(), indices.begin() + static_cast<int64_t>(tuples_begin), indices.end());
  add_extents(random, components, &table);
  const size_t slice_begin = table.size();
  add_extents(random, slice, &table);
  rows.insert(rows.end(), table.begin() + static_cast<int64_t>(slice_begin), table.end());
  if (operation.has_components) indices.push_back(components);
  c->options.batch_dims = batch;
  if (!operation.has_components) {
    c->options.has_axis = 1;
    c->options.axis = batch + outer;
  }
}

void choose_options(Random& random, gth_options* options) {
  options->profile = random.chance(50) ? 0 : static_cast<int32_t>(random.below(GTH_PROFILE_JAX_CLIP + 1));
  options->negative = static_cast<int32_t>(random.below(3));
  options->bounds = static_cast<int32_t>(random.below(GTH_BOUNDS_ERROR_PARTIAL + 1));
  options->fill = static_cast<int32_t>(random.below(GTH_FILL_BY_DTYPE + 1));
  for (uint64_t& each : options->fill_value) each = random.bits();
  options->threads = static_cast<int32_t>(random.below(9));
  if (random.chance(50)) options->reduction = static_cast<int32_t>(random.below(GTH_REDUCTION_MIN + 1));
  options->accumulate = static_cast<int32_t>(random.below(3));
  if (random.chance(20)) options->order = static_cast<int32_t>(random.below(GTH_ORDER_ANY + 1));
}

void choose(Random& random, const Operation& operation, Case* c) {
  choose_shapes(random, operation, c);
  choose_options(random, &c->options);
  const int32_t dtype = oracle::dtypes[random.below(std::size(oracle::dtypes))];
  c->table.describe(random, dtype);
  c->indices.describe(random, oracle::index_dtypes[random.below(std::size(oracle::index_dtypes))]);
  c->rows.describe(random, dtype);
  c->has_rows = random.chance(80);
}

// Returns true if build_dense() accepts the request. The general builder must then make the same plan.
bool compare(int32_t op, Open open, int32_t device, bool in_order, const Case& c) {
  const Error silent(nullptr);
  const Operation& operation = operation_of(op);
  if (check_options(c.options, operation, silent)) return false;
  const Request request{
      by_role<const gth_tensor_desc*>(&c.table.desc, &c.indices.desc, c.has_rows ? &c.rows.desc : nullptr),
      &operation,
      open,
      c.has_rows ? three_roles : two_roles,
      &c.options,
      device,
      0,
      in_order};
  Meaning meaning;
  if (resolve_meaning(request, &meaning, silent)) return false;
  Plan dense, general;
  std::memset(static_cast<void*>(&dense), 0x55, sizeof dense);
  std::memset(static_cast<void*>(&general), 0x33, sizeof general);
  if (!build_dense(request, meaning, &dense)) return false;
  gth_error error = GTH_ERROR_INIT;
  Placement placement;
  EXPECT_EQ(resolve_placement(request, meaning, &placement, &general, Error(&error)), GTH_OK) << error.message;
  build(request, meaning, placement, &general);
  EXPECT_EQ(Fields(dense).text, Fields(general).text);
  return true;
}

class PlanBuilders : public testing::TestWithParam<int32_t> {};

TEST_P(PlanBuilders, DenseRequestHasSamePlan) {
  Random random(static_cast<uint64_t>(environment::number("GATHER_SEED", 20261125)));
  const int64_t cases = oracle::random_cases(20000);
  int64_t compared = 0;
  for (int64_t i = 0; i < cases && !HasFailure(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    Case c;
    choose(random, operation_of(GetParam()), &c);
    if (compare(GetParam(), random.chance(50) ? Open::one : Open::none, static_cast<int32_t>(random.below(2)),
                random.chance(30), c))
      ++compared;
  }
  EXPECT_GT(compared, cases / 8);
}

std::string name_of(const testing::TestParamInfo<int32_t>& info) { return operation_of(info.param).name; }

// build_dense() rejects the operations whose dims correspond in pairs.
INSTANTIATE_TEST_SUITE_P(, PlanBuilders,
                         testing::Values(GTH_OP_GATHER, GTH_OP_GATHER_ND, GTH_OP_SCATTER, GTH_OP_SCATTER_ND,
                                         GTH_OP_GATHER_GRADIENT, GTH_OP_GATHER_ND_GRADIENT),
                         name_of);

}  // namespace
