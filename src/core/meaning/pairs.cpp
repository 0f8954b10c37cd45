#include "core/meaning/pairs.hpp"

#include <algorithm>
#include <cinttypes>

namespace gather::core {
namespace {

// The extents of a dim in the table and in indices.
struct Pair {
  int64_t table, indices;
};

bool is_open(const Pair& extents) { return extents.table == GTH_OPEN || extents.indices == GTH_OPEN; }

// Returns true if the two extents are compatible. In a shape query, an open extent is compatible with every extent. In
// a plan, both must be open or neither.
bool agree(int32_t rule, const Pair& extents, Open open) {
  if (extents.table == extents.indices) return true;
  if (is_open(extents)) return open == Open::any;
  if (rule == GTH_EXTENTS_PREFIX) return extents.indices <= extents.table;
  return rule == GTH_EXTENTS_BROADCAST && (extents.table == 1 || extents.indices == 1);
}

// Returns the extent of the output. If the rule is equal, a known extent replaces an open one. Precondition: the two
// extents are compatible.
int64_t extent_of_both(int32_t rule, const Pair& extents) {
  if (rule == GTH_EXTENTS_PREFIX) return extents.indices;
  if (rule == GTH_EXTENTS_BROADCAST && extents.indices == 1) return extents.table;
  if (rule == GTH_EXTENTS_BROADCAST && extents.table == 1) return extents.indices;
  return extents.indices == GTH_OPEN ? extents.table : extents.indices;
}

int32_t fail_pair(int32_t rule, int32_t dim, const Pair& extents, const Error& error) {
  const char* allowed = rule == GTH_EXTENTS_PREFIX      ? "needed is at most"
                        : rule == GTH_EXTENTS_BROADCAST ? "needed is 1 or"
                                                        : "needed, because extents is equal, is";
  return error.fail({GTH_E_SHAPE, GTH_OPERAND_INDICES, dim, -1, extents.indices, extents.table},
                    "indices: dim %" PRId32 " is %" PRId64 ", %s %" PRId64, dim, extents.indices, allowed,
                    extents.table);
}

}  // namespace

int32_t check_paired_ranks(const Settings& settings, const gth_tensor_desc& table, const gth_tensor_desc& indices,
                           const Error& error) {
  const int32_t least = settings.rules->allows_scalars ? 1 : 0;
  if (std::max(table.ndim, least) == std::max(indices.ndim, least)) return GTH_OK;
  return error.fail({GTH_E_RANK, GTH_OPERAND_INDICES, -1, -1, indices.ndim, table.ndim},
                    "indices: rank is %" PRId32 ", needed is that of %s, %" PRId32, indices.ndim,
                    operand_name(settings.operation->name_of(Role::table)), table.ndim);
}

int32_t resolve_pairs(const Settings& settings, const gth_tensor_desc& table, const gth_tensor_desc& indices, Open open,
                      Geometry* out, const Error& error) {
  out->tuple_begin = 0;
  out->tuple_end = out->ndim = indices.ndim;
  for (int32_t i = 0; i < indices.ndim; ++i) {
    out->shape[i] = indices.shape[i];
    if (i == out->axis) continue;
    const Pair extents{table.shape[i], indices.shape[i]};
    if (!agree(settings.extents, extents, open)) return fail_pair(settings.extents, i, extents, error);
    out->shape[i] = extent_of_both(settings.extents, extents);
  }
  return GTH_OK;
}

DimPair paired_dims(const Geometry& geometry, int32_t out_dim, const gth_tensor_desc& table,
                    const gth_tensor_desc& indices) {
  if (out_dim == geometry.axis) return {-1, out_dim};
  return {table.shape[out_dim] == 1 ? -1 : out_dim, indices.shape[out_dim] == 1 ? -1 : out_dim};
}

}  // namespace gather::core
