#include "core/plan/build_bags.hpp"

#include <algorithm>

#include "core/meaning/bag_meaning.hpp"
#include "core/plan/build.hpp"

namespace gather::core {
namespace {

// Returns the common distance of the elements of dims [0, ndim), if they have one. The extent of dim 0 may be open.
Line line_of(const int64_t* shape, const Scaled* strides, int32_t ndim, int64_t item) {
  Line line{true, item};
  bool is_first = true;
  int64_t span = 0;
  for (int32_t i = ndim; i-- > 0;) {
    if (shape[i] == 1) continue;
    const int64_t stride = strides[i].factor;
    if (is_first) line.stride = stride;
    line.is_line &= is_first || stride == span;
    is_first = false;
    if (i > 0 && !multiply(stride, shape[i], &span)) line.is_line = false;
  }
  return line;
}

// Adds the loops over ids. Loops over bags that are contiguous in every operand are merged.
void add_id_loops(const Request& request, const Placement& placement, Plan* plan) {
  const int64_t* const shape = request.indices->shape;
  const int32_t last = request.indices->ndim - 1;
  Scaled position = fixed(1);
  Loop reversed[GTH_MAX_NDIM];
  int32_t count = 0;
  for (int32_t i = last; i >= 0; --i) {
    const Scaled extent = extent_of(shape[i]);
    const Scaled weights = request.weights ? placement.weights.strides[i] : fixed(0);
    const Scaled rows = i < last ? placement.rows.strides[i] : fixed(0);
    const Loop loop{extent, weights, placement.indices.strides[i], rows, position};
    position = times(position, extent);
    Loop* const inner = count > 1 ? &reversed[count - 1] : nullptr;  // The loop over the ids of a bag is not merged.
    const auto continues = [&](Scaled Loop::* stride) {
      Scaled span;
      return multiply(inner->*stride, inner->extent, &span) && span == loop.*stride;
    };
    if (inner && continues(&Loop::table) && continues(&Loop::indices) && continues(&Loop::rows)) {
      inner->extent = times(inner->extent, extent);
    } else {
      reversed[count++] = loop;
    }
  }
  plan->end = 0;
  while (count > 0) plan->loops[plan->end++] = reversed[--count];
  plan->inner_begin = plan->end;
  plan->line = plan->end - 1;
}

// Makes the row of the trailing slice dims that are contiguous in the table and in the output, and loops over the
// others. `first` is the first slice dim of the output.
void add_row_loops(const Request& request, const Meaning& meaning, const Placement& placement, int32_t first,
                   Plan* plan) {
  const Geometry& geometry = meaning.geometry;
  const auto table_stride = [&](int32_t dim) {
    return placement.table.reach.empty ? fixed(0) : placement.table.strides[dim - geometry.ndim + request.table->ndim];
  };
  plan->row = {meaning.item, meaning.bytes_of(Role::rows)};
  int32_t begin = geometry.ndim;
  if (request.codec) {  // The last dim is a row.
    --begin;
    plan->row = {plan->row.in * geometry.shape[begin], plan->row.out * geometry.shape[begin]};
  }
  for (; begin > first && !request.codec; --begin) {
    const int64_t extent = geometry.shape[begin - 1];
    const bool is_contiguous =
        table_stride(begin - 1).is(plan->row.in) && placement.rows.strides[begin - 1].is(plan->row.out);
    if (extent != 1 && !is_contiguous) break;
    plan->row.in *= extent;
    plan->row.out *= extent;
  }
  plan->inner = 1;
  for (int32_t dim = first; dim < begin; ++dim) {
    const int64_t extent = geometry.shape[dim];
    plan->inner *= extent;
    if (extent == 1) continue;
    plan->loops[plan->end++] = {fixed(extent), table_stride(dim), fixed(0), placement.rows.strides[dim], fixed(0)};
  }
}

void set_bags(const Request& request, const Meaning& meaning, const Placement& placement, int32_t first_slice,
              Plan* plan) {
  const BagSettings& settings = meaning.settings.bags;
  const Geometry& geometry = meaning.geometry;
  const gth_tensor_desc &indices = *request.indices, *const weights = request.weights, *const numbers = request.bags;
  const DtypeInfo& table = *meaning.dtypes.table;
  BagPlan& bags = plan->bags;
  bags.format = bag_format_of(request, meaning.settings);
  bags.pool = settings.pool;
  bags.empty = settings.empty;
  bags.ends_early = settings.ends_early && (bags.format == GTH_BAGS_OFFSETS || bags.format == GTH_BAGS_STARTS);
  bags.rounds_each = settings.rounds_each && is_floating(table.number) && table.bytes == 2;
  bags.adds_bias_first = meaning.settings.rules->adds_bias_first;
  bags.widens = meaning.bytes_of(Role::rows) != meaning.item;
  bags.has_weights = weights != nullptr;
  bags.has_float32_weights = weights && weights->dtype == GTH_DTYPE_FLOAT32 && table.dtype != GTH_DTYPE_FLOAT32;
  bags.count = fixed(1);
  for (int32_t i = 0; i < first_slice; ++i) bags.count = times(bags.count, extent_of(geometry.shape[i]));
  const bool is_dense = bags.format == GTH_BAGS_DENSE;
  bags.length = is_dense ? indices.shape[indices.ndim - 1] : 0;
  bags.ids = is_dense ? 0 : indices.shape[0];
  bags.ids_are_open = !is_dense && indices.shape[0] == GTH_OPEN;
  bags.type = numbers ? index_type_of(numbers->dtype) : IndexType::int64;
  bags.bags_stride = numbers ? placement.bags.strides[0].factor : 0;
  bags.ids_at = line_of(indices.shape, placement.indices.strides, indices.ndim, meaning.dtypes.indices->bytes);
  bags.weights_at = weights ? line_of(weights->shape, placement.weights.strides, weights->ndim,
                                      bags.has_float32_weights ? int64_t{sizeof(float)} : meaning.item)
                            : Line{true, 0};
  bags.rows_at = line_of(geometry.shape, placement.rows.strides, first_slice, 0);
}

// Sets the largest open extents that the operands allow.
void set_largest(const Request& request, const Placement& placement, Plan* plan) {
  BagPlan& bags = plan->bags;
  const int64_t ids = std::min(placement.indices.largest_n, request.weights ? placement.weights.largest_n : INT64_MAX);
  const int64_t numbers = request.bags ? placement.bags.largest_n : INT64_MAX;
  const bool is_dense = bags.format == GTH_BAGS_DENSE;
  bags.largest_ids = bags.format == GTH_BAGS_SEGMENTS ? std::min(ids, numbers) : ids;
  plan->largest_n = placement.rows.largest_n;
  if (is_dense) {
    const int64_t for_each = std::max<int64_t>(bags.count.factor, 1) * std::max<int64_t>(bags.length, 1);
    plan->largest_n = std::min({plan->largest_n, ids, INT64_MAX / for_each});
  } else if (bags.format != GTH_BAGS_SEGMENTS) {
    plan->largest_n = std::min(plan->largest_n, bags.format == GTH_BAGS_OFFSETS ? numbers - 1 : numbers);
  }
  plan->is_open = bags.count.by_n != 0;
  if (!plan->is_open) plan->largest_n = 0;
}

}  // namespace

void build_bags(const Request& request, const Meaning& meaning, const Placement& placement, Plan* plan) {
  const gth_tensor_desc &table = *request.table, &indices = *request.indices;
  const int32_t first_slice = meaning.geometry.ndim - (table.ndim - 1);
  set_switches(meaning, plan);
  plan->reducing.number = meaning.dtypes.table->number;
  plan->reducing.in_float32 = plan->reducing.in_float64 = plan->reducing.is_mean = plan->reducing.starts_with_update =
      false;
  plan->reducing.any_order = meaning.settings.any_order && sums_in_order(plan->reducing.number);
  plan->components = 1;
  const int64_t size = table.shape[0];
  plan->component[0] = {size, size <= 1 || placement.table.reach.empty ? 0 : placement.table.strides[0].factor};
  plan->index_step = 0;
  plan->index = index_type_of(indices.dtype);
  plan->split.count = 1;
  plan->split.ndim = 0;
  add_id_loops(request, placement, plan);
  add_row_loops(request, meaning, placement, first_slice, plan);
  plan->tuples = fixed(1);
  for (int32_t i = 0; i < indices.ndim; ++i) plan->tuples = times(plan->tuples, extent_of(indices.shape[i]));
  plan->slices = plan->tuples;
  plan->is_empty = plan->inner == 0 || plan->row.out == 0;
  const BagSettings& settings = meaning.settings.bags;
  plan->checks_when_empty = settings.checks_when_empty || settings.empty == GTH_EMPTY_ERROR;
  plan->refused_dim = -1;
  plan->offset = {};
  plan->reach = {};
  plan->nonempty = 0;
  for (Role role : EachRole{laid_out(request)}) {
    plan->reach[role] = placement[role].reach;
    if (plan->reach[role].empty) continue;
    plan->nonempty |= set_of(role);
    plan->offset[role] = request[role] ? request[role]->offset : 0;
  }
  set_bags(request, meaning, placement, first_slice, plan);
  set_largest(request, placement, plan);
}

}  // namespace gather::core
