#include "core/plan/short.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "core/base/checked.hpp"
#include "core/base/structs.hpp"
#include "core/types/dtype.hpp"

namespace gather::core {
namespace {

bool is_in(int32_t value, int32_t highest) { return static_cast<uint32_t>(value) <= static_cast<uint32_t>(highest); }

// Returns true if an index may be out of bounds. clamp and modulo map every index to a valid one.
bool needs_bounds_check(int32_t bounds) { return bounds != GTH_BOUNDS_CLAMP && bounds != GTH_BOUNDS_MODULO; }

// Returns true if the fields after fill_value are zero, except for a fill_dtype of `dtype`.
bool has_zero_end(const gth_options& options, int32_t dtype) {
  constexpr size_t begin = offsetof(gth_options, accumulate), words = (GTH_OPTIONS_FIRST - begin) / sizeof(uint64_t);
  constexpr size_t fill_word = (offsetof(gth_options, initial) - begin) / sizeof(uint64_t);  // initial and fill_dtype
  static_assert(begin + words * sizeof(uint64_t) == GTH_OPTIONS_FIRST);
  static_assert(begin + fill_word * sizeof(uint64_t) == offsetof(gth_options, initial));
  uint64_t read[words], all = 0;
  std::memcpy(read, &options.accumulate, sizeof read);
  for (size_t i = 0; i < words; ++i) all |= i == fill_word ? 0 : read[i];
  return (all | read[fill_word]) == 0 || (options.fill_dtype == dtype && all == 0 && options.initial == 0);
}

bool are_short_options(const Operation& operation, int32_t dtype, const gth_options* o) {
  if (!has_first_fields_only(o)) return false;
  const bool allows_axis = operation.form == Form::paired && o->has_axis;
  return is_in(o->has_axis, operation.has_axis() ? 1 : 0) && (allows_axis || o->axis == 0) && o->batch_dims == 0 &&
         (o->profile | o->opset | o->extents | o->reduction) == 0 && has_zero_end(*o, dtype) &&
         is_in(o->negative, GTH_NEGATIVE_WRAP) && is_in(o->bounds, GTH_BOUNDS_ERROR_PARTIAL) &&
         needs_bounds_check(o->bounds) && is_in(o->fill, GTH_FILL_BY_DTYPE) && o->threads >= 0;
}

// Sets the memory of a dense tensor of `bytes` bytes. Returns false if the described memory is smaller.
bool describe_memory(const gth_tensor_desc& desc, int64_t bytes, Short::Memory* memory) {
  memory->low = desc.offset;
  memory->step = 0;
  return find_dense_end(desc, bytes, &memory->high);
}

// The dims of a request without batch and outer dims. The dims of the table are the K indexed dims, and then the
// row dims.
struct Dims {
  const int64_t* table;
  const int64_t* indices;
  const int64_t* rows;
  int32_t tuple_ndim, components, row_ndim;
};

bool split(const Request& request, Dims* dims) {
  const gth_tensor_desc &table = *request.table, &indices = *request.indices, &out = *request.rows;
  const bool has_components = request.operation->has_components;
  if (table.ndim == 0 || (has_components && indices.ndim == 0)) return false;
  const int32_t tuple_ndim = indices.ndim - (has_components ? 1 : 0);
  const int64_t components = has_components ? indices.shape[tuple_ndim] : 1;
  if (components < 1 || components > std::min(table.ndim, Short::most_components)) return false;
  const int32_t k = static_cast<int32_t>(components);
  *dims = {table.shape, indices.shape, out.shape, tuple_ndim, k, table.ndim - k};
  return out.ndim == tuple_ndim + dims->row_ndim;
}

bool count_tuples(const Dims& dims, int64_t* tuples) {
  *tuples = 1;
  for (int32_t i = 0; i < dims.tuple_ndim; ++i) {
    const int64_t extent = dims.indices[i];
    if (extent < 1 || extent > short_tuples || dims.rows[i] != extent) return false;
    if ((*tuples *= extent) > short_tuples) return false;
  }
  return true;
}

bool measure_row(const Dims& dims, int64_t item, int64_t* row) {
  *row = item;
  for (int32_t i = 0; i < dims.row_ndim; ++i) {
    const int64_t extent = dims.table[dims.components + i];
    if (extent < 1 || dims.rows[dims.tuple_ndim + i] != extent || !multiply(*row, extent, row)) return false;
  }
  return *row <= short_row_bytes;
}

// Sets sizes and strides of the indexed dims. *bytes receives the size of the table.
bool set_components(const Dims& dims, Short* result, int64_t* bytes) {
  result->components = dims.components;
  *bytes = result->row;
  for (int32_t i = dims.components; i-- > 0;) {
    result->component[i] = {dims.table[i], *bytes};
    if (dims.table[i] < 1 || !multiply(*bytes, dims.table[i], bytes)) return false;
  }
  return true;
}

// Sets dims and sizes of a gather along axis 0 or of a gather_nd. *bytes receives the size of the table.
bool set_slices(const Request& request, int64_t item, Short* result, int64_t* bytes) {
  Dims dims;
  if (!split(request, &dims) || !count_tuples(dims, &result->tuples) || !measure_row(dims, item, &result->row) ||
      !set_components(dims, result, bytes)) {
    return false;
  }
  result->places.outer = 0;
  result->line_indices = result->index_step * (request.operation->has_components ? dims.components : 1);
  return true;
}

// Makes the innermost loop of places long.
void lengthen(ShortPlaces* places) {
  if (places->columns > 1) return;
  places->column_step = 0;
  std::swap(places->repeats, places->columns);
  if (places->columns > 1) return;
  places->column_step = places->outer_step;
  std::swap(places->outer, places->columns);
}

// Sets dims and sizes of gather_elements. *bytes receives the size of the table.
bool set_pairs(const Request& request, int64_t item, Short* result, int64_t* bytes) {
  const gth_tensor_desc &table = *request.table, &indices = *request.indices, &out = *request.rows;
  const int64_t given = request.options ? request.options->axis : 0;
  const int64_t axis = given < 0 ? given + table.ndim : given;
  if (indices.ndim != table.ndim || out.ndim != table.ndim || axis < 0 || axis >= table.ndim) return false;
  result->tuples = 1;
  ShortPlaces places{1, 1, 1, 0, item};
  for (int32_t i = 0; i < table.ndim; ++i) {
    const int64_t extent = indices.shape[i];
    if (extent < 1 || extent > short_tuples || out.shape[i] != extent) return false;
    if (i != axis && table.shape[i] != extent) return false;
    if ((result->tuples *= extent) > short_tuples) return false;
    (i < axis ? places.outer : i > axis ? places.columns : places.repeats) *= extent;
  }
  const int64_t size = table.shape[axis], stride = places.columns * item;
  if (size < 1 || !multiply(stride, size, &places.outer_step)) return false;
  result->row = item;
  result->components = 1;
  result->component[0] = {size, stride};
  result->line_indices = result->index_step;
  if (!multiply(places.outer_step, places.outer, bytes)) return false;
  lengthen(&places);
  if (places.columns == result->tuples && places.column_step == 0) places.outer = 0;
  result->places = places;
  return true;
}

// Returns true if the plan has one loop, and each tuple selects one row.
bool is_one_line(const Plan& plan) {
  return plan.end == 1 && plan.loops[0].table.is(0) && plan.split.count == 1 && !plan.is_empty && plan.refused_dim < 0;
}

bool is_short_index(IndexType kind) { return kind == IndexType::int64 || kind == IndexType::int32; }

Short::Memory memory_of(const Reach& reach) { return {reach.low, reach.high, reach.high_step}; }

}  // namespace

bool shorten(const Plan& plan, Short* result) {
  const Loop& line = plan.loops[plan.line];
  if (plan.in_files || plan.packed.is_packed() || reduces(plan) || has_bags(plan) || plan.has_padding ||
      !is_one_line(plan) || plan.device != GTH_DEVICE_CPU || plan.row.in > short_row_bytes ||
      !needs_bounds_check(plan.bounds) || !is_short_index(plan.index) || plan.components < 1 ||
      plan.components > Short::most_components) {
    return false;
  }
  if (line.indices.by_n || line.rows.by_n || plan.tuples.by_n != line.extent.by_n) return false;
  for (const Reach* reach : {&plan.reach.table, &plan.reach.indices, &plan.reach.rows}) {
    if (reach->empty || reach->low_step) return false;
  }
  result->tuples = plan.tuples.factor;
  result->largest_n = plan.is_open ? plan.largest_n : GTH_OPEN;
  result->row = plan.row.in;
  result->table = memory_of(plan.reach.table);
  result->indices = memory_of(plan.reach.indices);
  result->rows = memory_of(plan.reach.rows);
  result->table_offset = plan.offset.table;
  result->indices_offset = plan.offset.indices;
  result->rows_offset = plan.offset.rows;
  result->line_indices = line.indices.factor;
  result->line_rows = line.rows.factor;
  result->index_step = plan.index_step;
  result->components = plan.components;
  result->is_int64 = plan.index == IndexType::int64;
  result->wraps = plan.wraps;
  result->scatters = is_scatter(plan);
  result->places.outer = 0;
  std::copy_n(plan.component, plan.components, result->component);
  return true;
}

bool lower_short(const Request& request, Short* result) {
  const gth_tensor_desc &table = *request.table, &indices = *request.indices, &output = *request.rows;
  const Operation& operation = *request.operation;
  if (!is_exact(&table, GTH_TENSOR_READONLY) || !is_exact(&indices, GTH_TENSOR_READONLY) || !is_exact(&output, 0) ||
      (request.options && !are_short_options(operation, table.dtype, request.options)) || table.dtype != output.dtype) {
    return false;
  }
  result->is_int64 = indices.dtype == GTH_DTYPE_INT64;
  if (!result->is_int64 && indices.dtype != GTH_DTYPE_INT32) return false;
  const DtypeInfo* dtype = find_dtype(table.dtype);
  if (!dtype || dtype->bytes == 0) return false;
  result->index_step = result->is_int64 ? 8 : 4;
  const auto set = operation.form == Form::paired ? set_pairs : set_slices;
  int64_t table_bytes;
  if (!set(request, dtype->bytes, result, &table_bytes)) return false;
  result->line_rows = result->row;
  result->largest_n = GTH_OPEN;
  result->table_offset = table.offset;
  result->indices_offset = indices.offset;
  result->rows_offset = output.offset;
  result->scatters = false;
  result->wraps = request.options && request.options->negative == GTH_NEGATIVE_WRAP;
  return describe_memory(table, table_bytes, &result->table) &&
         describe_memory(indices, result->tuples * result->line_indices, &result->indices) &&
         describe_memory(output, result->tuples * result->row, &result->rows);
}

bool infer_short(const Request& request, gth_tensor_desc* rows, int64_t* shape) {
  const gth_tensor_desc &table = *request.table, &indices = *request.indices;
  const Operation& operation = *request.operation;
  if (!is_exact(&indices, GTH_TENSOR_READONLY) ||
      (indices.dtype != GTH_DTYPE_INT64 && indices.dtype != GTH_DTYPE_INT32)) {
    return false;
  }
  const int32_t tuple_ndim = indices.ndim - (operation.has_components ? 1 : 0);
  if (tuple_ndim < 0) return false;
  const int64_t tuples = dense_product(indices.shape, 0, tuple_ndim, 1);
  if (tuples < 1 || tuples > short_tuples || !is_exact(&table, GTH_TENSOR_READONLY) ||
      (request.options && !are_short_options(operation, table.dtype, request.options))) {
    return false;
  }
  const DtypeInfo* dtype = find_dtype(table.dtype);
  const int64_t components = operation.form == Form::paired ? table.ndim
                             : operation.has_components     ? indices.shape[tuple_ndim]
                                                            : 1;
  if (!dtype || dtype->bytes == 0 || components < 1 || components > table.ndim ||
      tuple_ndim + table.ndim - components > GTH_MAX_NDIM) {
    return false;
  }
  int64_t* end = std::copy_n(indices.shape, tuple_ndim, shape);
  end = std::copy(table.shape + components, table.shape + table.ndim, end);
  *rows = gth_tensor_desc GTH_TENSOR_DESC_DENSE(table.dtype, static_cast<int32_t>(end - shape), shape, nullptr);
  const int64_t bytes = dense_product(shape, 0, rows->ndim, dtype->bytes);
  return bytes > 0 && bytes <= short_bytes;
}

}  // namespace gather::core
