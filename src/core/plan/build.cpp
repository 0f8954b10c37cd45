#include "core/plan/build.hpp"

#include <algorithm>
#include <cstring>

#include "core/plan/line.hpp"

namespace gather::core {
namespace {

struct Source {
  const Request& request;
  const Meaning& meaning;
  const Placement& placement;
};

// Returns the stride of a loop over a dim of the table. It is 0 if the table has no elements, because its strides have
// not been validated then and nothing is read.
Scaled table_step(const Source& source, int32_t dim) {
  return dim < 0 || source.placement.table.reach.empty ? fixed(0) : source.placement.table.strides[dim];
}

// Computes the increment of the position for each dim of indices. A position is the row-major number of a tuple.
void find_positions(const Source& source, Scaled* steps) {
  Scaled step = fixed(1);
  for (int32_t i = source.meaning.geometry.tuple_end; i-- > 0;) {
    steps[i] = step;
    step = times(step, extent_of(source.request.indices->shape[i]));
  }
}

// Returns true if one step of `outer` equals the whole range of `inner`. The two loops can then be merged.
bool continues(const Scaled& outer, const Scaled& inner, const Scaled& inner_extent) {
  Scaled span;
  return multiply(inner, inner_extent, &span) && span == outer;
}

// Appends a loop to the group that begins at `first`. It merges the loop with its predecessor if the strides allow it.
// The product of the extents does not overflow, because the size of the output has been checked.
void append(Plan* plan, int32_t first, const Loop& loop) {
  if (loop.extent.is(1)) return;
  if (plan->end > first) {
    Loop& last = plan->loops[plan->end - 1];
    if (continues(last.table, loop.table, loop.extent) && continues(last.indices, loop.indices, loop.extent) &&
        continues(last.rows, loop.rows, loop.extent) && continues(last.position, loop.position, loop.extent)) {
      const Scaled extent = times(last.extent, loop.extent);
      last = loop;
      last.extent = extent;
      return;
    }
  }
  plan->loops[plan->end++] = loop;
}

Loop loop_over(const Source& source, const Scaled* positions, int32_t dim) {
  const DimPair dims = dims_of(source.meaning.geometry, dim, *source.request.table, *source.request.indices);
  const bool has_index = dims.indices >= 0;
  return {extent_of(source.meaning.geometry.shape[dim]), table_step(source, dims.table),
          has_index ? source.placement.indices.strides[dims.indices] : fixed(0), source.placement.rows.strides[dim],
          has_index ? positions[dims.indices] : fixed(0)};
}

// Returns the first inner dim of the output. This dim and the later ones do not depend on indices. Outer dims that do
// not depend on indices repeat tuples.
int32_t first_inner_dim(const Source& source) {
  const Geometry& geometry = source.meaning.geometry;
  if (geometry.operation->form == Form::slices) {
    return geometry.ndim - (source.request.table->ndim - geometry.axis - geometry.components);
  }
  int32_t dim = geometry.ndim;
  while (dim > geometry.axis + 1 && source.request.indices->shape[dim - 1] == 1) --dim;
  return std::max(dim, 0);
}

// Makes the row of the trailing inner dims that are contiguous in the table and in the output. Returns its first dim.
int32_t find_row(const Source& source, int32_t first_inner, Plan* plan) {
  const Geometry& geometry = source.meaning.geometry;
  int64_t row = source.meaning.item;
  int32_t dim = geometry.ndim;
  if (source.request.codec) {  // The last dim is a row.
    row *= geometry.shape[dim - 1];
    plan->row = {row, row};
    return dim - 1;
  }
  for (; dim > first_inner; --dim) {
    const int64_t extent = geometry.shape[dim - 1];
    const DimPair dims = dims_of(geometry, dim - 1, *source.request.table, *source.request.indices);
    const bool is_contiguous = dims.table >= 0 && source.placement.table.strides[dims.table].is(row) &&
                               source.placement.rows.strides[dim - 1].is(row);
    if (extent != 1 && !is_contiguous) break;
    row *= extent;
  }
  plan->row = {row, row};
  return dim;
}

void add_loops(const Source& source, int32_t first_inner, Plan* plan) {
  const Geometry& geometry = source.meaning.geometry;
  Scaled positions[GTH_MAX_NDIM];
  find_positions(source, positions);
  const int32_t row_begin = find_row(source, first_inner, plan);
  plan->inner = 1;
  for (int32_t dim = first_inner; dim < row_begin; ++dim) plan->inner *= geometry.shape[dim];
  plan->end = 0;
  for (int32_t dim = 0; dim < first_inner; ++dim) append(plan, 0, loop_over(source, positions, dim));
  choose_line(source.request, plan);
  plan->inner_begin = plan->end;
  for (int32_t dim = first_inner; dim < row_begin; ++dim) {
    append(plan, plan->inner_begin, loop_over(source, positions, dim));
  }
}

void set_components(const Source& source, Plan* plan) {
  const gth_tensor_desc &table = *source.request.table, &indices = *source.request.indices;
  const int32_t first = source.meaning.geometry.axis;
  plan->components = source.meaning.geometry.components;
  for (int32_t i = 0; i < plan->components; ++i) {
    const int64_t size = table.ndim == 0 ? 1 : table.shape[first + i];
    plan->component[i] = {size, size == 1 ? 0 : table_step(source, first + i).factor};
  }
  plan->index_step = plan->components > 1 ? source.placement.indices.strides[indices.ndim - 1].factor : 0;
  plan->index = index_type_of(indices.dtype);
}

void set_batch_split(const Source& source, Plan* plan) {
  plan->split.count = 1;
  plan->split.ndim = source.meaning.geometry.has_batch_split ? source.meaning.geometry.axis : 0;
  for (int32_t i = 0; i < plan->split.ndim; ++i) {
    plan->split.extents[i] = source.request.table->shape[i];
    plan->split.strides[i] = table_step(source, i).factor;
    plan->split.count *= source.request.table->shape[i];
  }
}

Scaled product(const int64_t* extents, int32_t begin, int32_t end) {
  Scaled result = fixed(1);
  for (int32_t i = begin; i < end; ++i) result = times(result, extent_of(extents[i]));
  return result;
}

int32_t first_empty_dim(const gth_tensor_desc& desc) {
  const int64_t* end = desc.shape + desc.ndim;
  const int64_t* found = std::find(desc.shape, end, 0);
  return found == end ? -1 : static_cast<int32_t>(found - desc.shape);
}

bool has_empty_component(const Plan& plan) {
  return std::any_of(plan.component, plan.component + plan.components,
                     [](const Component& component) { return component.size == 0; });
}

// Sets whether the output is empty, and whether indices are validated in that case.
void set_emptiness(const Source& source, int32_t first_inner, Plan* plan) {
  const Geometry& geometry = source.meaning.geometry;
  const bool empty_slice = product(geometry.shape, first_inner, geometry.ndim).is(0);
  bool empty_outer = false;  // A dim that repeats tuples is empty.
  for (int32_t i = 0; i < first_inner; ++i) {
    const DimPair dims = dims_of(geometry, i, *source.request.table, *source.request.indices);
    empty_outer |= dims.indices < 0 && geometry.shape[i] == 0;
  }
  plan->is_empty = empty_slice || empty_outer;
  const uint8_t check = source.meaning.settings.rules->empty_check;
  const bool has_empty_dim = has_empty_component(*plan);
  const bool single_tuple = source.meaning.settings.operation->has_components && source.request.indices->ndim == 1;
  const int32_t reduction = source.meaning.settings.reduction;
  const bool is_reduced = reduction > GTH_REDUCTION_ADD;
  const bool covers_slice = !empty_slice || (check & check_empty_row);
  const bool covers_outer = !empty_outer || (check & check_empty_outer);
  plan->checks_when_empty =
      plan->is_empty &&
      ((covers_slice && covers_outer) || (is_reduced && (check & check_reduction)) ||
       (has_empty_dim && (check & check_empty_dim)) || (single_tuple && (check & check_single_tuple)) ||
       (single_tuple && has_empty_dim && (check & check_single_empty)));
}

void set_counts(const Source& source, int32_t first_inner, Plan* plan) {
  const Geometry& geometry = source.meaning.geometry;
  plan->tuples = product(source.request.indices->shape, 0, geometry.tuple_end);
  plan->slices = product(geometry.shape, 0, first_inner);
  plan->is_open = plan->tuples.by_n != 0;
  set_emptiness(source, first_inner, plan);
  plan->refused_dim = source.meaning.settings.rules->refuses_empty_table ? first_empty_dim(*source.request.table) : -1;
}

void set_memory(const Source& source, Plan* plan) {
  plan->largest_n = std::min(INT64_MAX / std::max<int64_t>(plan->tuples.factor, 1),
                             INT64_MAX / std::max<int64_t>(plan->slices.factor, 1));
  plan->offset = {};
  plan->nonempty = 0;
  for_each_role(laid_out(source.request), [&](Role role) GATHER_UNROLLED {
    const Layout& layout = source.placement[role];
    plan->reach[role] = layout.reach;
    plan->largest_n = std::min(plan->largest_n, layout.largest_n);
    if (layout.reach.empty) return GTH_OK;
    plan->nonempty |= set_of(role);
    plan->offset[role] = source.request[role] ? source.request[role]->offset : 0;
    return GTH_OK;
  });
  if (!plan->is_open) plan->largest_n = 0;
}

void set_fill(const DtypeInfo& dtype, const Settings& settings, Plan* plan) {
  plan->fill[0] = plan->fill[1] = 0;
  if (settings.fill == GTH_FILL_ZERO) return;
  const uint64_t* source = settings.fill == GTH_FILL_VALUE ? settings.fill_value : dtype.fill;
  std::memcpy(plan->fill, source, sizeof plan->fill);
}

void set_number(const DtypeInfo& dtype, const Settings& settings, Plan* plan) {
  const bool reduces = settings.reduction != GTH_REDUCTION_NONE;
  plan->reducing.number = reduces ? dtype.number : Number::none;
  plan->reducing.is_mean = settings.reduction == GTH_REDUCTION_MEAN;
  plan->reducing.reduction = plan->reducing.is_mean ? GTH_REDUCTION_ADD : settings.reduction;
  const bool rounds = plan->reducing.reduction == GTH_REDUCTION_ADD || plan->reducing.reduction == GTH_REDUCTION_MUL;
  const bool widens = rounds && is_floating(plan->reducing.number);
  plan->reducing.in_float32 = settings.in_float32 && widens && dtype.bytes == 2;
  plan->reducing.in_float64 = settings.in_float64 && widens && dtype.bytes == 4;
  plan->reducing.starts_with_update = settings.starts_with_update && reduces;
  plan->reducing.any_order =
      settings.any_order && plan->reducing.reduction == GTH_REDUCTION_ADD && sums_in_order(plan->reducing.number);
  if (!plan->reducing.starts_with_update) return;
  const int64_t bytes = plan->reducing.number == Number::complex ? dtype.bytes / 2 : dtype.bytes;
  plan->fill[0] = identity_of(plan->reducing.number, bytes, plan->reducing.reduction);
  plan->fill[1] = 0;
}

}  // namespace

void set_switches(const Meaning& meaning, Plan* plan) {
  const Settings& settings = meaning.settings;
  const DtypeInfo& dtype = *meaning.dtypes.table;
  const bool is_string = dtype.dtype == GTH_DTYPE_STRING;
  plan->item = {static_cast<int32_t>(meaning.item * 8), is_string ? ItemKind::offset : ItemKind::value};
  plan->wraps = settings.wraps;
  plan->bounds = settings.bounds;
  plan->is_partial_on_error = settings.is_partial_on_error;
  // A large uint64 has the bits of a negative number. A tuple without components is never padding.
  plan->has_padding = settings.has_padding && meaning.geometry.components > 0 &&
                      (settings.padding >= 0 || is_signed(index_type_of(meaning.dtypes.indices->dtype)));
  plan->padding = settings.padding;
  plan->operation = settings.operation;
  set_fill(dtype, settings, plan);
  set_number(dtype, settings, plan);
  plan->threads = settings.threads;
  plan->ndim = meaning.geometry.ndim;
  std::copy_n(meaning.geometry.shape, plan->ndim, plan->shape);
}

void build(const Request& request, const Meaning& meaning, const Placement& placement, Plan* plan) {
  const Source source{request, meaning, placement};
  const int32_t first_inner = first_inner_dim(source);
  set_switches(meaning, plan);
  set_components(source, plan);
  set_batch_split(source, plan);
  add_loops(source, first_inner, plan);
  set_counts(source, first_inner, plan);
  set_memory(source, plan);
}

}  // namespace gather::core
