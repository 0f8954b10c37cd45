#include "core/meaning/bag_meaning.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstddef>

#include "core/meaning/attributes.hpp"
#include "core/meaning/packed_meaning.hpp"
#include "core/types/dtype.hpp"
#include "core/types/reduction.hpp"

namespace gather::core {
namespace {

int32_t fail_bag_dtype(int32_t operand, int32_t dtype, int32_t needed, const Error& error) {
  return error.fail({GTH_E_DTYPE, operand, -1, -1, dtype, needed}, "%s: gather_bags with this pool has no dtype %s",
                    operand_name(operand), dtype_name(dtype));
}

bool is_integer(Number number) { return number == Number::signed_integer || number == Number::unsigned_integer; }

bool is_poolable(Number number, int32_t pool) {
  if (is_floating(number)) return true;
  if (is_integer(number)) return !is_dividing_pool(pool);
  return number == Number::complex && (pool == GTH_POOL_SUM || pool == GTH_POOL_MEAN);
}

int32_t check_out_dtype(const Settings& settings, const DtypeInfo& table, const Error& error) {
  const int32_t wanted = settings.bags.out_dtype;
  const bool is_half = is_floating(table.number) && table.bytes == 2;
  if (!wanted || wanted == table.dtype || (is_half && wanted == GTH_DTYPE_FLOAT32)) return GTH_OK;
  return error.fail({GTH_E_DTYPE, GTH_OPERAND_OUT, -1, -1, wanted, table.dtype}, "out: dtype is %s, but params have %s",
                    dtype_name(wanted), table.name);
}

int32_t check_weights_dtype(const DtypeInfo& table, int32_t dtype, const Error& error) {
  const bool is_float32 = dtype == GTH_DTYPE_FLOAT32 && is_floating(table.number);
  const bool has_weights = is_floating(table.number) || is_integer(table.number);
  if (has_weights && (dtype == table.dtype || is_float32)) return GTH_OK;
  if (!has_weights) return fail_bag_dtype(GTH_OPERAND_WEIGHTS, dtype, 0, error);
  const bool has_other = is_floating(table.number) && table.dtype != GTH_DTYPE_FLOAT32;
  return error.fail({GTH_E_DTYPE, GTH_OPERAND_WEIGHTS, -1, -1, dtype, table.dtype},
                    "weights: dtype is %s, needed is %s%s", dtype_name(dtype), table.name,
                    has_other ? " or float32" : "");
}

int32_t check_bags_dtype(const gth_tensor_desc& desc, const DtypeInfo** info, const Error& error) {
  *info = find_dtype(desc.dtype);
  if (*info && (*info)->is_index) return GTH_OK;
  return error.fail({GTH_E_DTYPE, GTH_OPERAND_BAGS, -1, -1, desc.dtype, 0}, "bags: dtype %s is no integer type",
                    dtype_name(desc.dtype));
}

// Looks up and checks the dtypes. A dtype of 0 is not checked if `may_be_unknown` is true.
int32_t resolve_bag_dtypes(const Request& request, const Settings& settings, bool may_be_unknown, Dtypes* out,
                           const Error& error) {
  const int32_t dtype = request.table->dtype;
  if (int32_t status = resolve_dtypes(settings, request, two_roles, may_be_unknown, out, error)) return status;
  if (dtype) {
    out->rows = find_dtype(rows_dtype_of(request));
    const DtypeInfo& table = *find_dtype(dtype);
    if (!is_poolable(table.number, settings.bags.pool)) return fail_bag_dtype(GTH_OPERAND_PARAMS, dtype, 0, error);
    if (int32_t status = check_out_dtype(settings, table, error)) return status;
    if (request.weights && (request.weights->dtype || !may_be_unknown)) {
      out->weights = find_dtype(request.weights->dtype);
      if (int32_t status = check_weights_dtype(table, request.weights->dtype, error)) return status;
    }
  }
  if (!request.bags || (!request.bags->dtype && may_be_unknown)) return GTH_OK;
  return check_bags_dtype(*request.bags, &out->bags, error);
}

// Checks that a request has the operands of its format and its pool.
int32_t check_bag_operands(const Request& request, const Settings& settings, const Error& error) {
  const int32_t format = bag_format_of(request, settings);
  if (format != GTH_BAGS_DENSE && !request.bags) return error.fail({GTH_E_NULL, GTH_OPERAND_BAGS}, "bags is NULL");
  if (format == GTH_BAGS_DENSE && request.bags) {
    return error.fail({GTH_E_VERSION, GTH_OPERAND_BAGS}, "bags: must be NULL for dense bags");
  }
  if (!request.weights || !is_extreme_pool(settings.bags.pool)) return GTH_OK;
  return error.fail({GTH_E_VERSION, GTH_OPERAND_WEIGHTS}, "weights: must be NULL for max and min");
}

int32_t fail_bag_rank(int32_t operand, int32_t rank, int32_t needed, const Error& error) {
  return error.fail({GTH_E_RANK, operand, -1, -1, rank, needed}, "%s: rank is %" PRId32 ", needed is %" PRId32,
                    operand_name(operand), rank, needed);
}

int32_t check_bag_ranks(const Request& request, int32_t format, const Error& error) {
  const gth_tensor_desc &table = *request.table, &indices = *request.indices;
  if (int32_t status = check_rank(table, GTH_OPERAND_PARAMS, error)) return status;
  if (int32_t status = check_rank(indices, GTH_OPERAND_INDICES, error)) return status;
  if (table.ndim < 1) return fail_bag_rank(GTH_OPERAND_PARAMS, 0, 1, error);
  const bool is_dense = format == GTH_BAGS_DENSE;
  if (is_dense ? indices.ndim < 1 : indices.ndim != 1) {
    return fail_bag_rank(GTH_OPERAND_INDICES, indices.ndim, 1, error);
  }
  if (request.bags) {
    if (int32_t status = check_rank(*request.bags, GTH_OPERAND_BAGS, error)) return status;
    if (request.bags->ndim != 1) return fail_bag_rank(GTH_OPERAND_BAGS, request.bags->ndim, 1, error);
  }
  if (request.weights) {
    if (int32_t status = check_rank(*request.weights, GTH_OPERAND_WEIGHTS, error)) return status;
    if (request.weights->ndim != indices.ndim) {
      return fail_bag_rank(GTH_OPERAND_WEIGHTS, request.weights->ndim, indices.ndim, error);
    }
  }
  const int32_t rank = indices.ndim - 1 + table.ndim - (is_dense ? 1 : 0);
  return rank <= GTH_MAX_NDIM ? GTH_OK : fail_bag_rank(GTH_OPERAND_OUT, rank, GTH_MAX_NDIM, error);
}

int32_t fail_open_dim(int32_t operand, int32_t dim, const Error& error) {
  return error.fail({GTH_E_SHAPE, operand, dim, -1, GTH_OPEN, 0},
                    "%s: dim %" PRId32 " is open, and only the number of bags and the number of ids can be",
                    operand_name(operand), dim);
}

// Checks the extents of an operand. In a plan, only dim 0 may be open, if `opens`.
int32_t check_bag_extents(const gth_tensor_desc& desc, int32_t operand, Open open, bool opens, const Error& error) {
  if (int32_t status = check_extents(desc, operand, open, error)) return status;
  if (open != Open::one) return GTH_OK;
  for (int32_t i = opens ? 1 : 0; i < desc.ndim; ++i) {
    if (desc.shape[i] == GTH_OPEN) return fail_open_dim(operand, i, error);
  }
  return GTH_OK;
}

// Checks that dims have equal extents. In a plan, both must be open or neither.
int32_t check_equal_extents(const gth_tensor_desc& desc, int32_t operand, const gth_tensor_desc& indices, Open open,
                            const Error& error) {
  for (int32_t i = 0; i < desc.ndim; ++i) {
    const int64_t extent = desc.shape[i], needed = indices.shape[i];
    const bool is_open = open == Open::any && (extent == GTH_OPEN || needed == GTH_OPEN);
    if (extent != needed && !is_open) return fail_extent(GTH_E_SHAPE, operand, i, extent, needed, error);
  }
  return GTH_OK;
}

int32_t check_bag_count(int64_t count, const Error& error) {
  if (count >= 0) return GTH_OK;
  return error.fail({GTH_E_SHAPE, GTH_OPERAND_OPTIONS, offsetof(gth_options, bag_count), -1, count, 0},
                    "options: bag_count is %" PRId64 " and must not be negative", count);
}

int32_t check_bag_shapes(const Request& request, int32_t format, const Error& error) {
  const Open open = request.open;
  const gth_tensor_desc& indices = *request.indices;
  const bool opens_ids = format != GTH_BAGS_DENSE || indices.ndim > 1;
  if (int32_t status = check_bag_extents(*request.table, GTH_OPERAND_PARAMS, open, false, error)) return status;
  if (int32_t status = check_bag_extents(indices, GTH_OPERAND_INDICES, open, opens_ids, error)) return status;
  if (request.bags) {
    if (int32_t status = check_bag_extents(*request.bags, GTH_OPERAND_BAGS, open, true, error)) return status;
    if (format == GTH_BAGS_OFFSETS && request.bags->shape[0] == 0) {
      return fail_extent(GTH_E_SHAPE, GTH_OPERAND_BAGS, 0, 0, 1, error);
    }
    if (format == GTH_BAGS_SEGMENTS) {
      if (int32_t status = check_equal_extents(*request.bags, GTH_OPERAND_BAGS, indices, open, error)) return status;
    }
  }
  if (!request.weights) return GTH_OK;
  if (int32_t status = check_bag_extents(*request.weights, GTH_OPERAND_WEIGHTS, open, true, error)) return status;
  return check_equal_extents(*request.weights, GTH_OPERAND_WEIGHTS, indices, open, error);
}

// Returns the number of bags, or GTH_OPEN.
int64_t count_bags(const Request& request, const Settings& settings, int32_t format) {
  if (format == GTH_BAGS_SEGMENTS) return settings.bags.count;
  const int64_t extent = request.bags->shape[0];
  return extent == GTH_OPEN || format != GTH_BAGS_OFFSETS ? extent : extent - 1;
}

void compose_bags(const Request& request, const Settings& settings, int32_t format, Geometry* out) {
  const gth_tensor_desc &table = *request.table, &indices = *request.indices;
  out->operation = settings.operation;
  out->batch = out->axis = 0;
  out->has_batch_split = false;
  out->components = 1;
  out->tuple_begin = 0;
  out->tuple_end = indices.ndim;
  out->ndim = 0;
  if (format == GTH_BAGS_DENSE) {
    for (int32_t i = 0; i < indices.ndim - 1; ++i) out->shape[out->ndim++] = indices.shape[i];
  } else {
    out->shape[out->ndim++] = count_bags(request, settings, format);
  }
  for (int32_t i = 1; i < table.ndim; ++i) out->shape[out->ndim++] = table.shape[i];
}

int32_t resolve_bags_geometry(const Request& request, const Settings& settings, bool may_be_unknown, Dtypes* found,
                              Geometry* out, const Error& error) {
  if (int32_t status = check_bag_operands(request, settings, error)) return status;
  if (int32_t status = resolve_bag_dtypes(request, settings, may_be_unknown, found, error)) return status;
  const int32_t format = bag_format_of(request, settings);
  if (int32_t status = check_bag_ranks(request, format, error)) return status;
  if (int32_t status = check_stray_axis(settings, error)) return status;
  if (int32_t status = check_bag_attributes(settings, error)) return status;
  if (int32_t status = check_bag_shapes(request, format, error)) return status;
  if (int32_t status = check_bag_count(settings.bags.count, error)) return status;
  compose_bags(request, settings, format, out);
  return GTH_OK;
}

}  // namespace

int32_t query_bags_geometry(const Request& request, Geometry* out, const Error& error) {
  Settings settings;
  resolve_options(request.options, *request.operation, &settings);
  Dtypes found{};
  if (int32_t status = resolve_bags_geometry(request, settings, true, &found, out, error)) return status;
  if (int32_t status = request.codec ? check_packed(request, *out, error) : GTH_OK) return status;
  return check_size(out->ndim, out->shape, 1, GTH_OPERAND_OUT, error);
}

int32_t resolve_bags_meaning(const Request& request, Meaning* out, const Error& error) {
  resolve_options(request.options, *request.operation, &out->settings);
  Geometry& geometry = out->geometry;
  int32_t status = resolve_bags_geometry(request, out->settings, false, &out->dtypes, &geometry, error);
  if (status) return status;
  const int32_t rows_dtype = out->dtypes.rows->dtype;
  if (request.rows && request.rows->dtype != rows_dtype) {
    return error.fail({GTH_E_DTYPE, GTH_OPERAND_OUT, -1, -1, request.rows->dtype, rows_dtype},
                      "out: dtype is %s, needed is %s", dtype_name(request.rows->dtype), dtype_name(rows_dtype));
  }
  out->item = out->dtypes.table->bytes;
  if (request.codec && (status = resolve_packed_meaning(request, out, error))) return status;
  if ((status = check_results(geometry, request, error))) return status;
  for (Role role : EachRole{request.roles & ~set_of(Role::rows)}) {
    const gth_tensor_desc& desc = *request[role];
    const int32_t operand = geometry.operation->name_of(role);
    if ((status = check_size(desc.ndim, desc.shape, out->bytes_of(role), operand, error))) return status;
  }
  return check_size(geometry.ndim, geometry.shape, out->bytes_of(Role::rows), GTH_OPERAND_OUT, error);
}

}  // namespace gather::core
