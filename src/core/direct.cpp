#include "core/direct.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "core/dtype.hpp"
#include "core/plain.hpp"

namespace gather::core {
namespace {

bool is_in(int32_t value, int32_t highest) { return static_cast<uint32_t>(value) <= static_cast<uint32_t>(highest); }

// What bounds = clamp and modulo answer is no matter of inside or outside.
bool has_plain_bounds(int32_t bounds) { return bounds != GTH_BOUNDS_CLAMP && bounds != GTH_BOUNDS_MODULO; }

bool has_plain_options(Op op, const gth_options* options) {
  if (!options) return true;
  const gth_options& o = *options;
  return o.size == sizeof o && is_in(o.has_axis, op == Op::gather ? 1 : 0) && (o.profile | o.opset) == 0 &&
         (o.axis | o.batch_dims) == 0 && is_in(o.negative, GTH_NEGATIVE_WRAP) && is_in(o.bounds, GTH_BOUNDS_SKIP) &&
         has_plain_bounds(o.bounds) && is_in(o.fill, GTH_FILL_BY_DTYPE) && o.threads >= 0;
}

// The memory of a plain tensor of so many bytes; false where it is not all described.
bool span_of(const gth_tensor_desc& desc, int64_t bytes, Direct::Span* span) {
  span->low = desc.offset;
  span->step = 0;
  return find_plain_end(desc, bytes, &span->high);
}

// Params without batch or outer dims: K indexed dims, then the row.
struct Dims {
  const int64_t* params;
  const int64_t* indices;
  const int64_t* out;
  int32_t tuple_ndim, components, row_ndim;
};

bool split(const Request& request, Dims* dims) {
  const gth_tensor_desc &params = *request.params, &indices = *request.indices, &out = *request.out;
  const bool is_nd = request.op == Op::gather_nd;
  if (params.ndim == 0 || (is_nd && indices.ndim == 0)) return false;
  const int32_t tuple_ndim = indices.ndim - (is_nd ? 1 : 0);
  const int64_t components = is_nd ? indices.shape[tuple_ndim] : 1;
  if (components < 1 || components > std::min(params.ndim, Direct::most_components)) return false;
  const int32_t k = static_cast<int32_t>(components);
  *dims = {params.shape, indices.shape, out.shape, tuple_ndim, k, params.ndim - k};
  return out.ndim == tuple_ndim + dims->row_ndim;
}

bool count_tuples(const Dims& dims, int64_t* tuples) {
  *tuples = 1;
  for (int32_t i = 0; i < dims.tuple_ndim; ++i) {
    const int64_t extent = dims.indices[i];
    if (extent < 1 || extent > Direct::most_tuples || dims.out[i] != extent) return false;
    if ((*tuples *= extent) > Direct::most_tuples) return false;
  }
  return true;
}

bool measure_row(const Dims& dims, int64_t item, int64_t* row) {
  *row = item;
  for (int32_t i = 0; i < dims.row_ndim; ++i) {
    const int64_t extent = dims.params[dims.components + i];
    if (extent < 1 || dims.out[dims.tuple_ndim + i] != extent || !multiply(*row, extent, row)) return false;
  }
  return *row <= Direct::largest_row;
}

// Sizes and strides of the indexed dims; *bytes receives what all params take.
bool set_components(const Dims& dims, Direct* direct, int64_t* bytes) {
  direct->components = dims.components;
  *bytes = direct->row;
  for (int32_t i = dims.components; i-- > 0;) {
    direct->component[i] = {dims.params[i], *bytes};
    if (dims.params[i] < 1 || !multiply(*bytes, dims.params[i], bytes)) return false;
  }
  return true;
}

// Nothing but one line of tuples that select one row each.
bool is_one_line(const Plan& plan) {
  return plan.end == 1 && plan.dealt == 1 && !plan.is_empty && plan.refused_dim < 0;
}

bool is_short_index(IndexKind kind) { return kind == IndexKind::int64 || kind == IndexKind::int32; }

Direct::Span span_of(const Reach& reach) { return {reach.low, reach.high, reach.high_step}; }

}  // namespace

bool shorten(const Plan& plan, Direct* direct) {
  const Loop& line = plan.loops[plan.line];
  if (!is_one_line(plan) || plan.device != GTH_DEVICE_CPU || plan.row > Direct::largest_row ||
      !has_plain_bounds(plan.bounds) || !is_short_index(plan.index) || plan.components < 1 ||
      plan.components > Direct::most_components) {
    return false;
  }
  if (line.index.by_n || line.out.by_n || plan.tuples.by_n != line.extent.by_n) return false;
  for (const Reach* reach : {&plan.params_reach, &plan.indices_reach, &plan.out_reach}) {
    if (reach->empty || reach->low_step) return false;
  }
  direct->tuples = plan.tuples.factor;
  direct->largest_n = plan.is_open ? plan.largest_n : GTH_OPEN;
  direct->row = plan.row;
  direct->params = span_of(plan.params_reach);
  direct->indices = span_of(plan.indices_reach);
  direct->out = span_of(plan.out_reach);
  direct->params_offset = plan.params_offset;
  direct->indices_offset = plan.indices_offset;
  direct->out_offset = plan.out_offset;
  direct->line_index = line.index.factor;
  direct->line_out = line.out.factor;
  direct->index_step = plan.index_step;
  direct->components = plan.components;
  direct->is_int64 = plan.index == IndexKind::int64;
  direct->wraps = plan.wraps;
  std::copy_n(plan.component, plan.components, direct->component);
  return true;
}

bool lower_direct(const Request& request, Direct* direct) {
  const gth_tensor_desc &params = *request.params, &indices = *request.indices, &out = *request.out;
  if (!is_plain(params, GTH_TENSOR_READONLY) || !is_plain(indices, GTH_TENSOR_READONLY) || !is_plain(out, 0) ||
      !has_plain_options(request.op, request.options) || params.dtype != out.dtype) {
    return false;
  }
  direct->is_int64 = indices.dtype == GTH_DTYPE_INT64;
  if (!direct->is_int64 && indices.dtype != GTH_DTYPE_INT32) return false;
  const DtypeInfo* dtype = find_dtype(params.dtype);
  Dims dims;
  if (!dtype || dtype->bytes == 0 || !split(request, &dims)) return false;
  int64_t params_bytes;
  if (!count_tuples(dims, &direct->tuples) || !measure_row(dims, dtype->bytes, &direct->row) ||
      !set_components(dims, direct, &params_bytes)) {
    return false;
  }
  direct->index_step = direct->is_int64 ? 8 : 4;
  direct->line_index = direct->index_step * (request.op == Op::gather_nd ? dims.components : 1);
  direct->line_out = direct->row;
  direct->largest_n = GTH_OPEN;
  direct->params_offset = params.offset;
  direct->indices_offset = indices.offset;
  direct->out_offset = out.offset;
  direct->wraps = request.options && request.options->negative == GTH_NEGATIVE_WRAP;
  return span_of(params, params_bytes, &direct->params) &&
         span_of(indices, direct->tuples * direct->line_index, &direct->indices) &&
         span_of(out, direct->tuples * direct->row, &direct->out);
}

}  // namespace gather::core
