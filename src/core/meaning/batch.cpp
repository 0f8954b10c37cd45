#include "core/meaning/batch.hpp"

#include <algorithm>
#include <cinttypes>

#include "core/base/checked.hpp"
#include "core/meaning/attributes.hpp"

namespace gather::core {
namespace {

bool agree(int64_t a, int64_t b, Open open) {
  return a == b || (open == Open::any && (a == GTH_OPEN || b == GTH_OPEN));
}

int32_t check_equal_batch(int32_t batch, const gth_tensor_desc& table, const gth_tensor_desc& indices, Open open,
                          const Error& error) {
  for (int32_t i = 0; i < batch; ++i) {
    if (!agree(table.shape[i], indices.shape[i], open)) {
      return fail_extent(GTH_E_BATCH, GTH_OPERAND_INDICES, i, indices.shape[i], table.shape[i], error);
    }
  }
  return GTH_OK;
}

bool has_open_extent(const gth_tensor_desc& desc) {
  return std::find(desc.shape, desc.shape + desc.ndim, GTH_OPEN) != desc.shape + desc.ndim;
}

// Returns true if the divisible rule compares the number of tuples with the number of batches. It returns false if the
// batch dims are equal, or if an extent is open. Each batch dim is then compared, if indices has that many dims.
bool needs_batch_split(int32_t batch, const gth_tensor_desc& table, const gth_tensor_desc& indices) {
  if (batch >= indices.ndim) return true;
  if (has_open_extent(table) || has_open_extent(indices)) return false;
  for (int32_t i = 0; i < batch; ++i) {
    if (table.shape[i] != indices.shape[i]) return true;
  }
  return false;
}

// Returns false if the product does not fit int64.
bool find_product(const int64_t* extents, int32_t count, int64_t* product) {
  const bool is_empty = std::find(extents, extents + count, 0) != extents + count;
  *product = is_empty ? 0 : 1;
  for (int32_t i = 0; i < count; ++i) {
    if (!multiply(*product, extents[i], product)) return false;
  }
  return true;
}

// Applies the rule of ONNX Runtime. It divides the tuples evenly between the batches of the table, and the output has
// the shape of indices. It compares counts, not dims, and only if the output has elements. A shape query returns open
// extents unchanged. A plan rejects them, because the number of tuples is unknown. A number of tuples that does not fit
// int64 is rejected later, because of its size.
int32_t split_batches(const gth_tensor_desc& table, const gth_tensor_desc& indices, Open open, Geometry* geometry,
                      const Error& error) {
  const bool is_open = has_open_extent(table) || has_open_extent(indices);
  if (is_open && open == Open::one) {
    return fail_batch_dims(geometry->batch, indices.ndim, 0, indices.ndim - 1, error);
  }
  const int32_t first = geometry->axis + geometry->components;
  const bool has_rows = std::find(table.shape + first, table.shape + table.ndim, 0) == table.shape + table.ndim;
  int64_t batches = 0, tuples = 0;
  const bool counts = !is_open && has_rows && find_product(indices.shape, indices.ndim - 1, &tuples);
  if (!find_product(table.shape, geometry->batch, &batches)) batches = INT64_MAX;  // more than any number of tuples
  if (counts && tuples > 0 && (batches == 0 || tuples % batches != 0)) {
    return error.fail({GTH_E_BATCH, GTH_OPERAND_INDICES, 0, -1, tuples, batches},
                      "indices: %" PRId64 " tuples are not a multiple of %" PRId64 " params batches", tuples, batches);
  }
  geometry->has_batch_split = true;
  geometry->batch = geometry->tuple_begin = 0;
  return GTH_OK;
}

}  // namespace

int32_t check_batch(BatchRule rule, const gth_tensor_desc& table, const gth_tensor_desc& indices, Open open,
                    Geometry* geometry, const Error& error) {
  if (rule == BatchRule::divisible && needs_batch_split(geometry->batch, table, indices)) {
    return split_batches(table, indices, open, geometry, error);
  }
  return check_equal_batch(geometry->batch, table, indices, open, error);
}

}  // namespace gather::core
