#include <algorithm>

#include "core/base/checked.hpp"
#include "core/plan/build.hpp"
#include "core/plan/line.hpp"

namespace gather::core {
namespace {

// Returns true if all operands are dense, and the written ones are writable.
bool are_dense(const Request& request) {
  const RoleSet written = request.operation->operands.written;
  return !for_each_role(request.roles, [&](Role role) GATHER_UNROLLED {
    const bool is_read_only = (written & set_of(role)) && (request[role]->flags & GTH_TENSOR_READONLY);
    return is_read_only || !is_dense(*request[role]);
  });
}

// Returns true if the batch dims, the outer dims and the tuple dims can be one loop each.
bool is_dense_request(const Request& request, const Geometry& geometry) {
  return geometry.operation->form == Form::slices && !geometry.has_batch_split && geometry.components > 0 &&
         request.device <= GTH_DEVICE_CPU && request.table->dtype != GTH_DTYPE_STRING && !request.codec &&
         are_dense(request);
}

// Sets the reach of `bytes` bytes that begin at the offset. Returns false if the described memory is smaller.
bool reach_of(const gth_tensor_desc* desc, int64_t bytes, Reach* reach) {
  const int64_t offset = desc ? desc->offset : 0;
  *reach = {offset, 0, 0, 0, false};
  return desc ? find_dense_end(*desc, bytes, &reach->high) : add(offset, bytes, &reach->high);
}

// The bytes that one step of each loop advances in each operand, and the extents of the loops.
struct Strides {
  int64_t row, table_outer, table_batch, table, index_step, indices_batch, indices, rows_outer, rows_batch, rows;
  int64_t batches, outers, tuples;

  // Returns false if a tensor is empty or too large.
  bool measure(const Request& request, const Geometry& geometry, int64_t item, int64_t index_item) {
    const int64_t *p = request.table->shape, *q = request.indices->shape;
    const int32_t b = geometry.batch, a = geometry.axis;
    row = dense_product(p, a + geometry.components, request.table->ndim, item);
    table_outer = dense_product(p, a, a + geometry.components, row);
    table_batch = dense_product(p, b, a, table_outer);
    table = dense_product(p, 0, b, table_batch);
    index_step = dense_product(q, geometry.tuple_end, request.indices->ndim, index_item);
    indices_batch = dense_product(q, b, geometry.tuple_end, index_step);
    indices = dense_product(q, 0, b, indices_batch);
    if (!table || !indices) return false;
    batches = table / table_batch;
    outers = table_batch / table_outer;
    tuples = indices_batch / index_step;
    return multiply(tuples, row, &rows_outer) && multiply(outers, rows_outer, &rows_batch) &&
           multiply(batches, rows_batch, &rows);
  }
};

void set_components(const Request& request, const Geometry& geometry, int64_t row, Plan* plan) {
  plan->components = geometry.components;
  int64_t stride = row;
  for (int32_t i = geometry.components; i-- > 0;) {
    const int64_t size = request.table->shape[geometry.axis + i];
    plan->component[i] = {size, size == 1 ? 0 : stride};
    stride *= size;
  }
}

void set_loops(const Request& request, const Strides& strides, Plan* plan) {
  plan->end = 0;
  const auto add_loop = [&](int64_t extent, int64_t table, int64_t indices, int64_t rows, int64_t position) {
    if (extent == 1) return;
    plan->loops[plan->end++] = {fixed(extent), fixed(table), fixed(indices), fixed(rows), fixed(position)};
  };
  add_loop(strides.batches, strides.table_batch, strides.indices_batch, strides.rows_batch, strides.tuples);
  add_loop(strides.outers, strides.table_outer, 0, strides.rows_outer, 0);
  add_loop(strides.tuples, 0, strides.index_step, strides.row, 1);
  choose_line(request, plan);
  plan->inner_begin = plan->end;
}

}  // namespace

bool build_dense(const Request& request, const Meaning& meaning, Plan* plan) {
  const Geometry& geometry = meaning.geometry;
  if (!is_dense_request(request, geometry)) return false;
  plan->index = index_type_of(request.indices->dtype);
  const int64_t index = index_bytes(plan->index);
  Strides strides;
  if (!strides.measure(request, geometry, meaning.item, index)) return false;
  if (!reach_of(request.table, strides.table, &plan->reach.table) ||
      !reach_of(request.rows, strides.rows, &plan->reach.rows) ||
      !reach_of(request.indices, strides.indices, &plan->reach.indices)) {
    return false;
  }
  set_switches(meaning, plan);
  set_components(request, geometry, strides.row, plan);
  plan->index_step = plan->components > 1 ? index : 0;
  plan->row = {strides.row, strides.row};
  plan->inner = 1;
  plan->split.count = 1;
  plan->split.ndim = 0;
  set_loops(request, strides, plan);
  plan->tuples = fixed(strides.batches * strides.tuples);
  plan->slices = fixed(strides.batches * strides.outers * strides.tuples);
  plan->offset = {};
  plan->offset.table = request.table->offset;
  plan->offset.indices = request.indices->offset;
  plan->offset.rows = request.rows ? request.rows->offset : 0;
  plan->nonempty = request.operation->operands.present & ~request.operation->operands.of_codec;
  plan->largest_n = 0;
  plan->is_open = plan->is_empty = plan->checks_when_empty = false;
  plan->packed.codec.structure = Structure::none;
  plan->refused_dim = -1;
  plan->device = GTH_DEVICE_CPU;
  plan->device_id = request.device_id;
  return true;
}

}  // namespace gather::core
