#include "core/meaning/shape.hpp"

#include <algorithm>
#include <cinttypes>

#include "core/meaning/attributes.hpp"
#include "core/meaning/batch.hpp"
#include "core/meaning/pairs.hpp"

namespace gather::core {
namespace {

int32_t fail_rank(int32_t operand, int64_t value, int64_t limit, const Error& error) {
  return error.fail({GTH_E_RANK, operand, -1, -1, value, limit}, "%s: rank is %" PRId64 ", needed is at least %" PRId64,
                    operand_name(operand), value, limit);
}

// Returns true if the operation accepts a table of rank 0. Form::paired reads a scalar as one dim of extent 1. A tuple
// without components selects a scalar.
bool accepts_scalar(const Settings& settings, const gth_tensor_desc& indices) {
  if (!settings.rules->allows_scalars) return false;
  return !settings.operation->has_components || (indices.ndim > 0 && indices.shape[indices.ndim - 1] == 0);
}

int32_t check_ranks(const Settings& settings, const gth_tensor_desc& table, const gth_tensor_desc& indices,
                    const Error& error) {
  const int32_t indexed = settings.operation->name_of(Role::table);
  if (int32_t status = check_rank(table, indexed, error)) return status;
  if (int32_t status = check_rank(indices, GTH_OPERAND_INDICES, error)) return status;
  if (table.ndim < 1 && !accepts_scalar(settings, indices)) return fail_rank(indexed, table.ndim, 1, error);
  if (indices.ndim < 1 && settings.operation->has_components) {
    return fail_rank(GTH_OPERAND_INDICES, indices.ndim, 1, error);
  }
  return settings.operation->form == Form::paired ? check_paired_ranks(settings, table, indices, error) : GTH_OK;
}

int32_t resolve_components(const Settings& settings, const gth_tensor_desc& table, const gth_tensor_desc& indices,
                           Geometry* out, const Error& error) {
  out->components = 1;
  if (!settings.operation->has_components) return GTH_OK;
  const int32_t last = indices.ndim - 1;
  const int64_t k = indices.shape[last];
  const int32_t limit = table.ndim - out->batch;
  if (k < 0 || k > limit) {
    return error.fail({GTH_E_SHAPE, GTH_OPERAND_INDICES, last, -1, k, limit},
                      "indices: tuples of %" PRId64 " components into %s of %" PRId32 " dims after batch_dims", k,
                      operand_name(out->operation->name_of(Role::table)), limit);
  }
  if (k == 0 && !settings.rules->allows_no_components) {
    return error.fail({GTH_E_SHAPE, GTH_OPERAND_INDICES, last, -1, 0, 1},
                      "indices: tuples have no components, needed is at least one");
  }
  out->components = static_cast<int32_t>(k);
  return GTH_OK;
}

void append(Geometry* out, int64_t extent) { out->shape[out->ndim++] = extent; }

// Returns the first dim of the output that is a tuple dim.
int32_t first_tuple_dim(const Geometry& geometry) { return geometry.has_batch_split ? 0 : geometry.axis; }

// Composes the output shape: table.shape[:axis], the tuple dims, and the rest of table.shape. If a batch extent is
// open in the table only, the extent of indices is used.
int32_t compose_slices(const gth_tensor_desc& table, const gth_tensor_desc& indices, Geometry* out,
                       const Error& error) {
  const int32_t leading = first_tuple_dim(*out);
  const int32_t rank = leading + (out->tuple_end - out->tuple_begin) + (table.ndim - out->axis - out->components);
  if (rank > GTH_MAX_NDIM) {
    const int32_t operand = out->operation->name_of(Role::rows);
    return error.fail({GTH_E_RANK, operand, -1, -1, rank, GTH_MAX_NDIM},
                      "%s: rank would be %" PRId32 ", the highest is %d", operand_name(operand), rank, GTH_MAX_NDIM);
  }
  out->ndim = 0;
  for (int32_t i = 0; i < leading; ++i) {
    const bool from_indices = i < out->batch && table.shape[i] == GTH_OPEN;
    append(out, from_indices ? indices.shape[i] : table.shape[i]);
  }
  for (int32_t i = out->tuple_begin; i < out->tuple_end; ++i) append(out, indices.shape[i]);
  for (int32_t i = out->axis + out->components; i < table.ndim; ++i) append(out, table.shape[i]);
  return GTH_OK;
}

int32_t resolve_slices(const Settings& settings, const gth_tensor_desc& table, const gth_tensor_desc& indices,
                       Open open, Geometry* out, const Error& error) {
  out->tuple_begin = out->batch;
  out->tuple_end = indices.ndim - (settings.operation->has_components ? 1 : 0);
  return check_batch(settings.batch, table, indices, open, out, error);
}

int32_t fail_open(const Geometry& geometry, int32_t operand, int32_t dim, const Error& error) {
  return error.fail({GTH_E_SHAPE, operand, dim, -1, GTH_OPEN, 0},
                    "%s: dim %" PRId32
                    " is open, and only one tuple dim, or the outermost dim that %s and "
                    "indices share, can be",
                    operand_name(operand), dim, operand_name(geometry.operation->name_of(Role::table)));
}

// Returns true if dim 0 is the same dim of table, indices and the output.
bool shares_outermost(const Geometry& geometry) {
  return geometry.operation->form == Form::paired ? geometry.axis > 0 : geometry.batch > 0;
}

// Checks that at most one extent is open, and that it is a tuple dim or a shared dim 0. Precondition: shared dims have
// been compared, so each is open in both operands or in neither. Therefore an open dim of the table other than dim 0 is
// invalid.
int32_t check_one_open(const Geometry& geometry, const gth_tensor_desc& table, const gth_tensor_desc& indices,
                       const Error& error) {
  for (int32_t i = shares_outermost(geometry) ? 1 : 0; i < table.ndim; ++i) {
    if (table.shape[i] == GTH_OPEN) return fail_open(geometry, geometry.operation->name_of(Role::table), i, error);
  }
  bool seen = false;
  for (int32_t i = 0; i < indices.ndim; ++i) {
    if (indices.shape[i] != GTH_OPEN) continue;
    if (seen) return fail_open(geometry, GTH_OPERAND_INDICES, i, error);
    seen = true;
  }
  return GTH_OK;
}

}  // namespace

DimPair dims_of(const Geometry& geometry, int32_t out_dim, const gth_tensor_desc& table,
                const gth_tensor_desc& indices) {
  if (geometry.operation->form == Form::paired) return paired_dims(geometry, out_dim, table, indices);
  if (!geometry.has_batch_split && out_dim < geometry.batch) return {out_dim, out_dim};
  const int32_t first = first_tuple_dim(geometry), end = first + geometry.tuple_end - geometry.tuple_begin;
  if (out_dim < first) return {out_dim, -1};
  if (out_dim < end) return {-1, geometry.tuple_begin + out_dim - first};
  return {out_dim - geometry.ndim + table.ndim, -1};
}

int32_t resolve_geometry(const Settings& settings, const ByRole<const gth_tensor_desc*>& operands, Open open,
                         Geometry* out, const Error& error) {
  const gth_tensor_desc &table = *operands.table, &indices = *operands.indices;
  if (int32_t status = check_ranks(settings, table, indices, error)) return status;
  if (int32_t status = check_stray_axis(settings, error)) return status;
  const Operation& operation = *settings.operation;
  out->operation = &operation;
  out->has_batch_split = false;
  int32_t status = resolve_attributes(settings, {table.ndim, indices.ndim}, out, error);
  if (status) return status;
  if ((status = check_extents(table, out->operation->name_of(Role::table), open, error))) return status;
  if ((status = check_extents(indices, GTH_OPERAND_INDICES, open, error))) return status;
  if ((status = resolve_components(settings, table, indices, out, error))) return status;
  const bool is_paired = operation.form == Form::paired;
  status = is_paired ? resolve_pairs(settings, table, indices, open, out, error)
                     : resolve_slices(settings, table, indices, open, out, error);
  if (status) return status;
  if (open == Open::one && (status = check_one_open(*out, table, indices, error))) return status;
  return is_paired ? GTH_OK : compose_slices(table, indices, out, error);
}

namespace {

int32_t check_result(const Geometry& geometry, const gth_tensor_desc& desc, int32_t operand, const Error& error) {
  if (int32_t status = check_rank(desc, operand, error)) return status;
  if (desc.ndim != geometry.ndim) {
    return error.fail({GTH_E_RANK, operand, -1, -1, desc.ndim, geometry.ndim},
                      "%s: rank is %" PRId32 ", needed is %" PRId32, operand_name(operand), desc.ndim, geometry.ndim);
  }
  for (int32_t i = 0; i < geometry.ndim; ++i) {
    if (desc.shape[i] != geometry.shape[i]) {
      return fail_extent(GTH_E_SHAPE, operand, i, desc.shape[i], geometry.shape[i], error);
    }
  }
  return GTH_OK;
}

}  // namespace

int32_t check_results(const Geometry& geometry, const ByRole<const gth_tensor_desc*>& operands, const Error& error) {
  const Operation& operation = *geometry.operation;
  for (Role role : EachRole{operation.operands.results}) {
    if (!operands[role]) continue;
    if (int32_t status = check_result(geometry, *operands[role], operation.name_of(role), error)) return status;
  }
  return GTH_OK;
}

}  // namespace gather::core
