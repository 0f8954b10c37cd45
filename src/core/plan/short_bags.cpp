#include "core/plan/short_bags.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/structs.hpp"
#include "core/types/dtype.hpp"

namespace gather::core {
namespace {

bool is_short_pool(int32_t pool) { return pool != GTH_POOL_SQRTN; }

// Returns true if all options but the pool, the format and the number of threads have their defaults.
bool are_short_options(const gth_options& given) {
  if (given.size != sizeof given || given.threads < 0) return false;
  const bool has_format = given.bag_format == 0 || given.bag_format == GTH_BAGS_OFFSETS;
  if (!has_format || given.pool < 0 || given.pool > GTH_POOL_MIN || !is_short_pool(given.pool)) return false;
  gth_options rest = given;
  rest.pool = rest.bag_format = rest.threads = 0;
  const gth_options defaults = GTH_OPTIONS_INIT;
  return std::memcmp(&rest, &defaults, sizeof rest) == 0;
}

// Sets the number of bags. Returns false if operands of these shapes have no short form.
bool set_shapes(const Request& request, ShortBags* out) {
  const gth_tensor_desc &table = *request.table, &indices = *request.indices, &rows = *request.rows;
  const int32_t bag_ndim = request.bags ? 1 : indices.ndim - 1, row_ndim = table.ndim - 1;
  if (bag_ndim < 0 || row_ndim < 0 || rows.ndim != bag_ndim + row_ndim) return false;
  int64_t bags = 0;
  if (request.bags) {
    if (request.bags->ndim != 1 || indices.ndim != 1 || indices.shape[0] < 0) return false;
    bags = rows.shape[0];
    if (bags < 1 || bags > short_bags || request.bags->shape[0] != bags + 1) return false;
    out->ids = indices.shape[0];
  } else {
    if (!std::equal(indices.shape, indices.shape + bag_ndim, rows.shape)) return false;
    bags = dense_product(indices.shape, 0, bag_ndim, 1);
    out->length = indices.shape[bag_ndim];
    if (bags < 1 || bags > short_bags || out->length < 0 || out->length > short_bag_ids) return false;
  }
  out->count = fixed(bags);
  return std::equal(table.shape + 1, table.shape + table.ndim, rows.shape + bag_ndim);
}

// Returns true if a dense operand has at least `bytes` bytes of memory.
bool has_memory(const gth_tensor_desc& desc, int64_t bytes) {
  int64_t end;
  return find_dense_end(desc, bytes, &end);
}

}  // namespace

bool shorten_bags(const Plan& plan, ShortBags* out) {
  if (!has_bags(plan) || plan.in_files || plan.packed.is_packed() || plan.device != GTH_DEVICE_CPU || plan.is_empty ||
      plan.inner_begin != plan.end)
    return false;
  const BagPlan& bags = plan.bags;
  const bool has_offsets = bags.format == GTH_BAGS_OFFSETS;
  const bool is_plain = !bags.has_weights && !plan.has_padding && !bags.widens && bags.empty == GTH_EMPTY_ZERO &&
                        !bags.ends_early && !plan.wraps && plan.bounds == GTH_BOUNDS_ERROR;
  if (!is_plain || !is_floating(plan.reducing.number) || !is_short_pool(bags.pool)) return false;
  if (!has_offsets && bags.format != GTH_BAGS_DENSE) return false;
  const int64_t id_bytes = index_bytes(plan.index);
  const bool are_rows_dense = bags.rows_at.is_line && (bags.rows_at.stride == plan.row.out || bags.count.is(1));
  const bool is_dense = bags.ids_at.is_line && bags.ids_at.stride == id_bytes && are_rows_dense &&
                        (!has_offsets || bags.bags_stride == index_bytes(bags.type));
  if (!is_dense || plan.reach.table.empty) return false;
  out->number = plan.reducing.number;
  out->pool = bags.pool;
  out->rounds_each = bags.rounds_each;
  out->has_offsets = has_offsets;
  out->ids_are_open = bags.ids_are_open;
  out->index = plan.index;
  out->numbers = bags.type;
  out->count = bags.count;
  out->largest_n = plan.largest_n;
  out->largest_ids = bags.largest_ids;
  out->ids = bags.ids;
  out->length = bags.length;
  out->item = plan.item.bytes();
  out->row = plan.row.in;
  out->rows = plan.component[0].size;
  out->stride = plan.component[0].stride;
  out->table = plan.reach.table.at(1);
  out->offset = plan.offset;
  return true;
}

bool lower_short_bags(const Request& request, ShortBags* out) {
  const gth_tensor_desc &table = *request.table, &indices = *request.indices, &rows = *request.rows;
  if (request.weights || (request.options && !are_short_options(*request.options))) return false;
  const uint32_t readonly = GTH_TENSOR_READONLY;
  if (!is_exact(&table, readonly) || !is_exact(&indices, readonly) || !is_exact(&rows, 0)) return false;
  if (request.bags && !is_exact(request.bags, readonly)) return false;
  const DtypeInfo *const dtype = find_dtype(table.dtype), *const index = find_dtype(indices.dtype);
  const DtypeInfo* const numbers = request.bags ? find_dtype(request.bags->dtype) : index;
  if (!dtype || !is_floating(dtype->number) || rows.dtype != table.dtype) return false;
  if (!index || !index->is_index || !numbers || !numbers->is_index) return false;
  if (!set_shapes(request, out)) return false;
  out->number = dtype->number;
  out->pool = request.options && request.options->pool ? request.options->pool : GTH_POOL_SUM;
  out->rounds_each = false;
  out->has_offsets = request.bags != nullptr;
  out->ids_are_open = false;
  out->index = index_type_of(indices.dtype);
  out->numbers = index_type_of(numbers->dtype);
  out->item = dtype->bytes;
  out->row = dense_product(table.shape, 1, table.ndim, dtype->bytes);
  out->rows = table.shape[0];
  out->stride = out->row;
  const int64_t bytes = dense_product(table.shape, 0, table.ndim, dtype->bytes);
  const int64_t bags = out->count.factor, ids = out->ids_of(bags, GTH_OPEN);
  if (bytes == 0 || out->row > short_bag_bytes || ids > short_bag_ids) return false;
  out->offset = by_role(table.offset, indices.offset, rows.offset);
  out->offset.bags = request.bags ? request.bags->offset : 0;
  out->table.low = table.offset;
  return find_dense_end(table, bytes, &out->table.high) && has_memory(indices, ids * index->bytes) &&
         has_memory(rows, bags * out->row) && (!request.bags || has_memory(*request.bags, (bags + 1) * numbers->bytes));
}

}  // namespace gather::core
