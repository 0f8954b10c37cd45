#include "core/dense.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "core/device.hpp"
#include "core/dtype.hpp"
#include "core/plain.hpp"

namespace gather::core {
namespace {

bool is_plain(const gth_tensor_desc* desc) {
  return !desc || (!desc->strides && is_host(desc->device) && desc->offset >= 0 && desc->extent >= 0);
}

// Whether `bytes` bytes from the offset on are described; sets the reach.
bool reach_of(const gth_tensor_desc* desc, int64_t bytes, Reach* reach) {
  const int64_t offset = desc ? desc->offset : 0;
  *reach = {offset, 0, 0, 0, false};
  return desc ? find_plain_end(*desc, bytes, &reach->high) : add(offset, bytes, &reach->high);
}

void add_loop(Plan* plan, int64_t extent, int64_t params, int64_t index, int64_t out) {
  if (extent != 1) plan->loops[plan->end++] = {fixed(extent), fixed(params), fixed(index), fixed(out)};
}

bool is_output(const Geometry& geometry, const gth_tensor_desc* out) {
  return !out || (out->ndim == geometry.ndim && (out->shape || out->ndim == 0) && !(out->flags & GTH_TENSOR_READONLY) &&
                  std::equal(out->shape, out->shape + out->ndim, geometry.shape));
}

// Sizes in bytes of what one step of each loop covers; false where a tensor is empty or too large.
struct Steps {
  int64_t row, params_outer, params_batch, params, index_step, index_batch, indices, out_outer, out_batch, out;
  int64_t batches, outers, tuples;

  bool measure(const Request& request, const Geometry& geometry, int64_t item, int64_t index_item) {
    const int64_t *p = request.params->shape, *q = request.indices->shape;
    const int32_t b = geometry.batch, a = geometry.axis;
    row = plain_product(p, a + geometry.components, request.params->ndim, item);
    params_outer = plain_product(p, a, a + geometry.components, row);
    params_batch = plain_product(p, b, a, params_outer);
    params = plain_product(p, 0, b, params_batch);
    index_step = plain_product(q, geometry.tuple_end, request.indices->ndim, index_item);
    index_batch = plain_product(q, b, geometry.tuple_end, index_step);
    indices = plain_product(q, 0, b, index_batch);
    if (!params || !indices) return false;
    batches = params / params_batch;
    outers = params_batch / params_outer;
    tuples = index_batch / index_step;
    return multiply(tuples, row, &out_outer) && multiply(outers, out_outer, &out_batch) &&
           multiply(batches, out_batch, &out);
  }
};

void set_components(const Request& request, const Geometry& geometry, int64_t row, Plan* plan) {
  plan->components = geometry.components;
  int64_t stride = row;
  for (int32_t i = geometry.components; i-- > 0;) {
    const int64_t size = request.params->shape[geometry.axis + i];
    plan->component[i] = {size, stride};
    stride *= size;
  }
}

void set_loops(const Steps& steps, Plan* plan) {
  plan->end = 0;
  add_loop(plan, steps.batches, steps.params_batch, steps.index_batch, steps.out_batch);
  plan->outer_begin = plan->end;
  add_loop(plan, steps.outers, steps.params_outer, 0, steps.out_outer);
  plan->tuple_begin = plan->line = plan->end;
  plan->loops[plan->end++] = {fixed(steps.tuples), fixed(0), fixed(steps.index_step), fixed(steps.row)};
}

}  // namespace

bool lower_dense(const Request& request, Plan* plan) {
  const gth_tensor_desc &params = *request.params, &indices = *request.indices;
  if (request.device > GTH_DEVICE_CPU || params.dtype == GTH_DTYPE_STRING) return false;
  if (!is_plain(&params) || !is_plain(&indices) || !is_plain(request.out)) return false;
  const Error silent(nullptr);
  Settings settings;
  resolve_options(request.options, request.op, &settings);
  if (check_definition(request.op, settings, silent)) return false;
  const int32_t out_dtype = request.out ? request.out->dtype : params.dtype;
  if (check_dtypes(request.op, settings, params.dtype, indices.dtype, out_dtype, silent)) return false;
  Geometry geometry;
  if (resolve_geometry(request.op, settings, params, indices, Open::none, &geometry, silent)) return false;
  if (geometry.dealt || geometry.components == 0 || !is_output(geometry, request.out)) return false;
  plan->index = index_kind(indices.dtype);
  plan->item = find_dtype(params.dtype)->bytes;
  Steps steps;
  if (!steps.measure(request, geometry, plan->item, index_bytes(plan->index))) return false;
  if (!reach_of(&params, steps.params, &plan->params_reach) || !reach_of(request.out, steps.out, &plan->out_reach) ||
      !reach_of(&indices, steps.indices, &plan->indices_reach)) {
    return false;
  }
  set_components(request, geometry, steps.row, plan);
  set_loops(steps, plan);
  set_fill(params.dtype, settings, plan);
  plan->index_step = index_bytes(plan->index);
  plan->row = steps.row;
  plan->inner = 1;
  plan->tuples = fixed(steps.batches * steps.tuples);
  plan->slices = fixed(steps.batches * steps.outers * steps.tuples);
  plan->params_offset = params.offset;
  plan->indices_offset = indices.offset;
  plan->out_offset = request.out ? request.out->offset : 0;
  plan->largest_n = 0;
  plan->is_open = plan->is_empty = plan->checks_when_empty = false;
  plan->wraps = settings.wraps;
  plan->bounds = settings.bounds;
  plan->threads = settings.threads;
  plan->refused_dim = -1;
  plan->device = GTH_DEVICE_CPU;
  plan->device_id = request.device_id;
  plan->dealt = 1;
  plan->dealt_ndim = 0;
  plan->ndim = geometry.ndim;
  std::copy_n(geometry.shape, geometry.ndim, plan->shape);
  return true;
}

}  // namespace gather::core
