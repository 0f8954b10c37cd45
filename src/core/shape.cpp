#include "core/shape.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstddef>

#include "core/checked.hpp"
#include "core/dtype.hpp"
#include "core/types.hpp"

namespace gather::core {
namespace {

constexpr int32_t axis_field = offsetof(gth_options, axis);
constexpr int32_t batch_field = offsetof(gth_options, batch_dims);

int32_t fail_dtype(int32_t operand, int32_t value, int32_t wanted, const Error& error) {
  if (wanted) {
    return error.fail({GTH_E_DTYPE, operand, -1, -1, value, wanted}, "%s: dtype is %s, needed is %s",
                      operand_name(operand), dtype_name(value), dtype_name(wanted));
  }
  const DtypeInfo* info = find_dtype(value);
  const char* why = !info                                               ? "is no dtype"
                    : operand == GTH_OPERAND_INDICES && !info->is_index ? "is no integer type"
                                                                        : "is not allowed here";
  return error.fail({GTH_E_DTYPE, operand, -1, -1, value, 0}, "%s: dtype %s (%" PRId32 ") %s", operand_name(operand),
                    dtype_name(value), value, why);
}

int32_t check_params_dtype(Op op, const Settings& settings, int32_t dtype, const Error& error) {
  const bool allowed = find_dtype(dtype) && allows_params(settings.profile, op, settings.opset, dtype);
  return allowed ? GTH_OK : fail_dtype(GTH_OPERAND_PARAMS, dtype, 0, error);
}

// An empty string is all that a missing string can be.
int32_t check_fill_dtype(const Settings& settings, int32_t dtype, const Error& error) {
  const bool fills = settings.bounds == GTH_BOUNDS_FILL && settings.fill != GTH_FILL_ZERO;
  return dtype == GTH_DTYPE_STRING && fills ? fail_dtype(GTH_OPERAND_PARAMS, dtype, 0, error) : GTH_OK;
}

int32_t check_indices_dtype(Op op, const Settings& settings, int32_t dtype, const Error& error) {
  const DtypeInfo* info = find_dtype(dtype);
  if (info && info->is_index && allows_indices(settings.profile, op, dtype)) return GTH_OK;
  return fail_dtype(GTH_OPERAND_INDICES, dtype, 0, error);
}

int32_t fail_rank(int32_t operand, int64_t value, int64_t limit, const Error& error) {
  return error.fail({GTH_E_RANK, operand, -1, -1, value, limit}, "%s: rank is %" PRId64 ", needed is at least %" PRId64,
                    operand_name(operand), value, limit);
}

// Valid are all from lowest to highest.
int32_t fail_batch_dims(int64_t value, int64_t limit, int64_t lowest, int64_t highest, const Error& error) {
  return error.fail({GTH_E_BATCH, GTH_OPERAND_OPTIONS, batch_field, -1, value, limit},
                    "options: batch_dims is %" PRId64 ", valid are [%" PRId64 ", %" PRId64 "]", value, lowest, highest);
}

int32_t fail_any_batch_dims(int64_t value, const Error& error) {
  return error.fail({GTH_E_BATCH, GTH_OPERAND_OPTIONS, batch_field, -1, value, 0},
                    "options: batch_dims is %" PRId64 ", but the operation has none here", value);
}

int32_t fail_any_axis(int64_t value, const char* why, const Error& error) {
  return error.fail({GTH_E_AXIS, GTH_OPERAND_OPTIONS, axis_field, -1, value, 0}, "options: axis is %" PRId64 ", but %s",
                    value, why);
}

int32_t check_ranks(Op op, const gth_tensor_desc& params, const gth_tensor_desc& indices, const Error& error) {
  if (int32_t status = check_rank(params, GTH_OPERAND_PARAMS, error)) return status;
  if (int32_t status = check_rank(indices, GTH_OPERAND_INDICES, error)) return status;
  if (params.ndim < 1) return fail_rank(GTH_OPERAND_PARAMS, params.ndim, 1, error);
  if (op == Op::gather_nd && indices.ndim < 1) return fail_rank(GTH_OPERAND_INDICES, indices.ndim, 1, error);
  return GTH_OK;
}

int32_t resolve_gather_attributes(const Settings& settings, int32_t r, int32_t q, Geometry* out, const Error& error) {
  if (settings.has_axis && (settings.axis < -r || settings.axis >= r)) {
    return error.fail({GTH_E_AXIS, GTH_OPERAND_OPTIONS, axis_field, -1, settings.axis, r},
                      "options: axis is %" PRId64 ", valid are [-%" PRId32 ", %" PRId32 ")", settings.axis, r, r);
  }
  const int64_t b = settings.batch_dims;
  const int64_t lowest = settings.has_axis ? -q : -std::min(q, r), highest = std::min(q, r - 1);
  if (b != 0 && !settings.has_batch_dims) return fail_any_batch_dims(b, error);
  if (b < -q || b > q) return fail_batch_dims(b, q, lowest, highest, error);
  out->batch = static_cast<int32_t>(b < 0 ? b + q : b);
  if (out->batch >= r) return fail_batch_dims(b, r, lowest, highest, error);
  if (settings.axis < -r || settings.axis >= r) return fail_batch_dims(b, r, lowest, highest, error);
  out->axis = static_cast<int32_t>(settings.axis < 0 ? settings.axis + r : settings.axis);
  if (out->axis >= out->batch) return GTH_OK;
  return error.fail({GTH_E_AXIS, GTH_OPERAND_OPTIONS, axis_field, -1, settings.axis, out->batch},
                    "options: axis is %" PRId64 ", below batch_dims, %" PRId32, settings.axis, out->batch);
}

int32_t resolve_gather_nd_attributes(const Settings& settings, int32_t r, int32_t q, Geometry* out,
                                     const Error& error) {
  if (settings.has_axis) return fail_any_axis(settings.axis, "gather_nd has none", error);
  const int64_t b = settings.batch_dims;
  if (b != 0 && !settings.has_batch_dims) return fail_any_batch_dims(b, error);
  if (settings.rules->batch == BatchRule::divisible) {  // counts tuples, so that indices' rank does not matter
    if (b < 0 || b > r) return fail_batch_dims(b, r, 0, r, error);
  } else if (b < 0 || b >= std::min(q, r)) {
    return fail_batch_dims(b, std::min(q, r), 0, std::min(q, r) - 1, error);
  }
  out->batch = out->axis = static_cast<int32_t>(b);
  return GTH_OK;
}

// An axis without has_axis is a forgotten has_axis.
int32_t check_stray_axis(const Settings& settings, const Error& error) {
  if (settings.has_axis || settings.given_axis == 0) return GTH_OK;
  return fail_any_axis(settings.given_axis, "has_axis is 0", error);
}

int32_t fail_extent(int32_t status, int32_t operand, int32_t dim, int64_t value, int64_t limit, const Error& error) {
  return error.fail({status, operand, dim, -1, value, limit}, "%s: dim %" PRId32 " is %" PRId64 ", needed is %" PRId64,
                    operand_name(operand), dim, value, limit);
}

bool agree(int64_t a, int64_t b, Open open) {
  return a == b || (open == Open::any && (a == GTH_OPEN || b == GTH_OPEN));
}

int32_t check_equal_batch(int32_t batch, const gth_tensor_desc& params, const gth_tensor_desc& indices, Open open,
                          const Error& error) {
  for (int32_t i = 0; i < batch; ++i) {
    if (!agree(params.shape[i], indices.shape[i], open)) {
      return fail_extent(GTH_E_BATCH, GTH_OPERAND_INDICES, i, indices.shape[i], params.shape[i], error);
    }
  }
  return GTH_OK;
}

int32_t resolve_components(Op op, const Settings& settings, const gth_tensor_desc& params,
                           const gth_tensor_desc& indices, Geometry* out, const Error& error) {
  if (op == Op::gather) {
    out->components = 1;
    return GTH_OK;
  }
  const int32_t last = indices.ndim - 1;
  const int64_t k = indices.shape[last];
  const int32_t limit = params.ndim - out->batch;
  if (k < 0 || k > limit) {
    return error.fail({GTH_E_SHAPE, GTH_OPERAND_INDICES, last, -1, k, limit},
                      "indices: tuples of %" PRId64 " components into params of %" PRId32 " dims after batch_dims", k,
                      limit);
  }
  if (k == 0 && !settings.rules->allows_no_components) {
    return error.fail({GTH_E_SHAPE, GTH_OPERAND_INDICES, last, -1, 0, 1}, "indices: tuples of no components");
  }
  out->components = static_cast<int32_t>(k);
  return GTH_OK;
}

void append(Geometry* out, int64_t extent) { out->shape[out->ndim++] = extent; }

// params.shape[:axis] + tuple dims + the rest of params.shape; of a batch extent the known one of both.
int32_t compose_shape(const gth_tensor_desc& params, const gth_tensor_desc& indices, Geometry* out,
                      const Error& error) {
  const int32_t leading = out->dealt ? 0 : out->axis;
  const int32_t rank = leading + (out->tuple_end - out->tuple_begin) + (params.ndim - out->axis - out->components);
  if (rank > GTH_MAX_NDIM) {
    return error.fail({GTH_E_RANK, GTH_OPERAND_OUT, -1, -1, rank, GTH_MAX_NDIM},
                      "out: rank would be %" PRId32 ", the highest is %d", rank, GTH_MAX_NDIM);
  }
  out->ndim = 0;
  for (int32_t i = 0; i < leading; ++i) {
    const bool from_indices = i < out->batch && params.shape[i] == GTH_OPEN;
    append(out, from_indices ? indices.shape[i] : params.shape[i]);
  }
  for (int32_t i = out->tuple_begin; i < out->tuple_end; ++i) append(out, indices.shape[i]);
  for (int32_t i = out->axis + out->components; i < params.ndim; ++i) append(out, params.shape[i]);
  return GTH_OK;
}

int32_t fail_open(int32_t operand, int32_t dim, const Error& error) {
  return error.fail({GTH_E_SHAPE, operand, dim, -1, GTH_OPEN, 0},
                    "%s: dim %" PRId32 " is open, and only one tuple dim or the outermost batch dim can be",
                    operand_name(operand), dim);
}

// A plan's one open extent is a tuple dim, or dim 0 of both where that is a batch dim.
int32_t check_one_open(const Geometry& geometry, const gth_tensor_desc& params, const gth_tensor_desc& indices,
                       const Error& error) {
  for (int32_t i = 0; i < params.ndim; ++i) {
    if (params.shape[i] == GTH_OPEN && !(i == 0 && geometry.batch > 0)) {
      return fail_open(GTH_OPERAND_PARAMS, i, error);
    }
  }
  bool seen = false;
  for (int32_t i = 0; i < indices.ndim; ++i) {
    if (indices.shape[i] != GTH_OPEN) continue;
    const bool is_tuple_dim = i >= geometry.tuple_begin && i < geometry.tuple_end;
    const bool is_outer_batch = i == 0 && geometry.batch > 0;
    if (seen || !(is_tuple_dim || is_outer_batch)) {
      return fail_open(GTH_OPERAND_INDICES, i, error);
    }
    seen = true;
  }
  return GTH_OK;
}

bool has_open_extent(const gth_tensor_desc& desc) {
  return std::find(desc.shape, desc.shape + desc.ndim, GTH_OPEN) != desc.shape + desc.ndim;
}

// Whether the counts of the divisible rule decide. Extents that are not known yet cannot be counted: then dims are
// compared one by one, as long as indices has so many.
bool is_dealt(int32_t batch, const gth_tensor_desc& params, const gth_tensor_desc& indices) {
  if (batch >= indices.ndim) return true;
  if (has_open_extent(params) || has_open_extent(indices)) return false;
  for (int32_t i = 0; i < batch; ++i) {
    if (params.shape[i] != indices.shape[i]) return true;
  }
  return false;
}

int64_t saturating_product(const int64_t* extents, int32_t count) {
  if (std::find(extents, extents + count, 0) != extents + count) return 0;
  int64_t product = 1;
  for (int32_t i = 0; i < count; ++i) {
    if (!multiply(product, extents[i], &product)) return INT64_MAX;
  }
  return product;
}

// ONNX Runtime compares counts, not dims: the tuples are dealt out to the batches of params in equal shares, and the
// output keeps the shape of indices. It does not compare where there is no output. A shape query hands open extents on;
// a plan, which would deal out an unknown number of tuples, refuses them.
int32_t deal_out_batches(const gth_tensor_desc& params, const gth_tensor_desc& indices, Open open, Geometry* geometry,
                         const Error& error) {
  const bool is_open = has_open_extent(params) || has_open_extent(indices);
  if (is_open && open == Open::one) {
    return fail_batch_dims(geometry->batch, indices.ndim, 0, indices.ndim - 1, error);
  }
  const int64_t batches = saturating_product(params.shape, geometry->batch);
  const int64_t tuples = saturating_product(indices.shape, indices.ndim - 1);
  const int32_t first = geometry->axis + geometry->components;
  const bool has_output = !is_open && tuples > 0 && saturating_product(params.shape + first, params.ndim - first) > 0;
  if (has_output && (batches == 0 || tuples % batches != 0)) {
    return error.fail({GTH_E_BATCH, GTH_OPERAND_INDICES, 0, -1, tuples, batches},
                      "indices: %" PRId64 " tuples are not a multiple of %" PRId64 " params batches", tuples, batches);
  }
  geometry->dealt = true;
  geometry->batch = geometry->tuple_begin = 0;
  return GTH_OK;
}

}  // namespace

int32_t check_rank(const gth_tensor_desc& desc, int32_t operand, const Error& error) {
  if (desc.ndim < 0 || desc.ndim > GTH_MAX_NDIM) {
    return error.fail({GTH_E_RANK, operand, -1, -1, desc.ndim, GTH_MAX_NDIM},
                      "%s: rank is %" PRId32 ", valid are 0 to %d", operand_name(operand), desc.ndim, GTH_MAX_NDIM);
  }
  if (desc.ndim > 0 && !desc.shape) {
    return error.fail({GTH_E_NULL, operand}, "%s: shape is NULL", operand_name(operand));
  }
  return GTH_OK;
}

int32_t check_extents(const gth_tensor_desc& desc, int32_t operand, Open open, const Error& error) {
  for (int32_t i = 0; i < desc.ndim; ++i) {
    const int64_t extent = desc.shape[i];
    if (extent < 0 && !(extent == GTH_OPEN && open != Open::none)) {
      return error.fail({GTH_E_SHAPE, operand, i, -1, extent, 0}, "%s: dim %" PRId32 " is negative, %" PRId64,
                        operand_name(operand), i, extent);
    }
  }
  return GTH_OK;
}

int32_t check_known_dtypes(Op op, const Settings& settings, int32_t params, int32_t indices, const Error& error) {
  if (params) {
    if (int32_t status = check_params_dtype(op, settings, params, error)) return status;
  }
  if (indices) {
    if (int32_t status = check_indices_dtype(op, settings, indices, error)) return status;
  }
  return check_fill_dtype(settings, params, error);
}

int32_t check_dtypes(Op op, const Settings& settings, int32_t params, int32_t indices, int32_t out,
                     const Error& error) {
  if (int32_t status = check_params_dtype(op, settings, params, error)) return status;
  if (int32_t status = check_indices_dtype(op, settings, indices, error)) return status;
  if (int32_t status = check_fill_dtype(settings, params, error)) return status;
  return out == params ? GTH_OK : fail_dtype(GTH_OPERAND_OUT, out, params, error);
}

int32_t resolve_geometry(Op op, const Settings& settings, const gth_tensor_desc& params, const gth_tensor_desc& indices,
                         Open open, Geometry* out, const Error& error) {
  if (int32_t status = check_ranks(op, params, indices, error)) return status;
  const int32_t r = params.ndim, q = indices.ndim;
  if (int32_t status = check_stray_axis(settings, error)) return status;
  int32_t status = op == Op::gather ? resolve_gather_attributes(settings, r, q, out, error)
                                    : resolve_gather_nd_attributes(settings, r, q, out, error);
  if (status) return status;
  if ((status = check_extents(params, GTH_OPERAND_PARAMS, open, error))) return status;
  if ((status = check_extents(indices, GTH_OPERAND_INDICES, open, error))) return status;
  if ((status = resolve_components(op, settings, params, indices, out, error))) return status;
  out->tuple_begin = out->batch;
  out->tuple_end = op == Op::gather ? q : q - 1;
  out->dealt = false;
  if (settings.rules->batch == BatchRule::divisible && is_dealt(out->batch, params, indices)) {
    status = deal_out_batches(params, indices, open, out, error);
  } else {
    status = check_equal_batch(out->batch, params, indices, open, error);
  }
  if (status) return status;
  if (open == Open::one && (status = check_one_open(*out, params, indices, error))) return status;
  return compose_shape(params, indices, out, error);
}

int32_t check_output_rank(const Geometry& geometry, const gth_tensor_desc& out, const Error& error) {
  if (int32_t status = check_rank(out, GTH_OPERAND_OUT, error)) return status;
  if (out.ndim != geometry.ndim) {
    return error.fail({GTH_E_RANK, GTH_OPERAND_OUT, -1, -1, out.ndim, geometry.ndim},
                      "out: rank is %" PRId32 ", needed is %" PRId32, out.ndim, geometry.ndim);
  }
  return GTH_OK;
}

int32_t check_output_shape(const Geometry& geometry, const gth_tensor_desc& out, const Error& error) {
  for (int32_t i = 0; i < geometry.ndim; ++i) {
    if (out.shape[i] != geometry.shape[i]) {
      return fail_extent(GTH_E_SHAPE, GTH_OPERAND_OUT, i, out.shape[i], geometry.shape[i], error);
    }
  }
  return GTH_OK;
}

}  // namespace gather::core
