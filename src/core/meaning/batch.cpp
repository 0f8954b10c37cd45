#include "core/meaning/batch.hpp"

#include <algorithm>
#include <cinttypes>

#include "core/meaning/attributes.hpp"
#include "core/base/checked.hpp"

namespace gather::core {
namespace {

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

// False where int64 ends.
bool find_product(const int64_t* extents, int32_t count, int64_t* product) {
  const bool is_empty = std::find(extents, extents + count, 0) != extents + count;
  *product = is_empty ? 0 : 1;
  for (int32_t i = 0; i < count; ++i) {
    if (!multiply(*product, extents[i], product)) return false;
  }
  return true;
}

// ONNX Runtime compares counts, not dims: the tuples are dealt out to the batches of params in equal shares, and the
// output keeps the shape of indices. It does not compare where there is no output. A shape query hands open extents on;
// a plan, which would deal out an unknown number of tuples, refuses them. Tuples beyond int64 are refused later, for
// their size.
int32_t deal_out_batches(const gth_tensor_desc& params, const gth_tensor_desc& indices, Open open, Geometry* geometry,
                         const Error& error) {
  const bool is_open = has_open_extent(params) || has_open_extent(indices);
  if (is_open && open == Open::one) {
    return fail_batch_dims(geometry->batch, indices.ndim, 0, indices.ndim - 1, error);
  }
  const int32_t first = geometry->axis + geometry->components;
  const bool has_rows = std::find(params.shape + first, params.shape + params.ndim, 0) == params.shape + params.ndim;
  int64_t batches = 0, tuples = 0;
  const bool counts = !is_open && has_rows && find_product(indices.shape, indices.ndim - 1, &tuples);
  if (!find_product(params.shape, geometry->batch, &batches)) batches = INT64_MAX;  // more than there can be tuples
  if (counts && tuples > 0 && (batches == 0 || tuples % batches != 0)) {
    return error.fail({GTH_E_BATCH, GTH_OPERAND_INDICES, 0, -1, tuples, batches},
                      "indices: %" PRId64 " tuples are not a multiple of %" PRId64 " params batches", tuples, batches);
  }
  geometry->dealt = true;
  geometry->batch = geometry->tuple_begin = 0;
  return GTH_OK;
}

}  // namespace

int32_t check_batch(BatchRule rule, const gth_tensor_desc& params, const gth_tensor_desc& indices, Open open,
                    Geometry* geometry, const Error& error) {
  if (rule == BatchRule::divisible && is_dealt(geometry->batch, params, indices)) {
    return deal_out_batches(params, indices, open, geometry, error);
  }
  return check_equal_batch(geometry->batch, params, indices, open, error);
}

}  // namespace gather::core
