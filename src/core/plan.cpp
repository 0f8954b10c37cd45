#include "core/plan.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "core/checked.hpp"
#include "core/dense.hpp"
#include "core/device.hpp"
#include "core/dtype.hpp"
#include "core/structs.hpp"

namespace gather::core {
namespace {

// The checked pieces of a request, between the checks and the loops.
struct Parts {
  Settings settings;
  Geometry geometry;
  int64_t item;
  Layout params, indices, out;
};

// A string is gathered as its entry in the offsets.
int64_t element_bytes(int32_t dtype) {
  return dtype == GTH_DTYPE_STRING ? int64_t{sizeof(int64_t)} : find_dtype(dtype)->bytes;
}

bool is_pinned_or_managed(int32_t device) {
  return device == GTH_DEVICE_CUDA_HOST || device == GTH_DEVICE_CUDA_MANAGED;
}

int32_t check_operand_device(const gth_tensor_desc& desc, int32_t operand, const Plan& plan, const Error& error) {
  if (!is_known_device(desc.device)) return fail_device(operand, desc.device, 0, error);
  if (plan.device == GTH_DEVICE_CPU) {
    return is_host(desc.device) ? GTH_OK : fail_device(operand, desc.device, GTH_DEVICE_CPU, error);
  }
  if (is_pinned_or_managed(desc.device)) return GTH_OK;
  if (desc.device != GTH_DEVICE_CUDA) return fail_device(operand, desc.device, GTH_DEVICE_CUDA, error);
  if (desc.device_id != plan.device_id) return fail_device(operand, desc.device_id, plan.device_id, error);
  return GTH_OK;
}

void find_device(const Request& request, Plan* plan) {
  plan->device = request.device ? request.device : GTH_DEVICE_CPU;
  plan->device_id = request.device_id;
  if (request.device) return;
  for (const gth_tensor_desc* desc : {request.params, request.indices, request.out}) {
    if (!desc || is_host(desc->device)) continue;
    plan->device = GTH_DEVICE_CUDA;
    plan->device_id = desc->device_id;
    if (desc->device == GTH_DEVICE_CUDA) return;  // managed memory is every device's
  }
}

int32_t check_devices(const Request& request, Plan* plan, const Error& error) {
  find_device(request, plan);
  if (int32_t status = check_operand_device(*request.params, GTH_OPERAND_PARAMS, *plan, error)) return status;
  if (int32_t status = check_operand_device(*request.indices, GTH_OPERAND_INDICES, *plan, error)) return status;
  return request.out ? check_operand_device(*request.out, GTH_OPERAND_OUT, *plan, error) : GTH_OK;
}

gth_tensor_desc dense_output(const Geometry& geometry) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  desc.ndim = geometry.ndim;
  desc.shape = geometry.shape;
  return desc;
}

// The offsets of strings are 8 bytes each, whatever the strings.
int32_t check_offsets_memory(const gth_tensor_desc& params, const Geometry& geometry, const Error& error) {
  const Error silent(nullptr);
  if (check_size(params.ndim, params.shape, sizeof(int64_t), GTH_OPERAND_PARAMS, silent) == GTH_OK &&
      check_size(geometry.ndim, geometry.shape, sizeof(int64_t), GTH_OPERAND_OUT, silent) == GTH_OK) {
    return GTH_OK;
  }
  return error.fail({GTH_E_NOMEM, GTH_OPERAND_OUT, -1, -1, INT64_MAX, 0}, "out: more strings than memory has room for");
}

int32_t check_sizes(const Request& request, const Parts& parts, const Error& error) {
  const gth_tensor_desc &params = *request.params, &indices = *request.indices;
  const bool has_strings = params.dtype == GTH_DTYPE_STRING;
  const int64_t item = has_strings ? 1 : parts.item;  // a string has at least no bytes
  int32_t status = check_size(params.ndim, params.shape, item, GTH_OPERAND_PARAMS, error);
  if (status) return status;
  const int64_t index_bytes = find_dtype(indices.dtype)->bytes;
  if ((status = check_size(indices.ndim, indices.shape, index_bytes, GTH_OPERAND_INDICES, error))) return status;
  status = check_size(parts.geometry.ndim, parts.geometry.shape, item, GTH_OPERAND_OUT, error);
  return status || !has_strings ? status : check_offsets_memory(params, parts.geometry, error);
}

int32_t resolve_layouts(const Request& request, Parts* parts, const Error& error) {
  int32_t status = resolve_layout(*request.params, parts->item, GTH_OPERAND_PARAMS, &parts->params, error);
  if (status) return status;
  const int64_t index_bytes = find_dtype(request.indices->dtype)->bytes;
  status = resolve_layout(*request.indices, index_bytes, GTH_OPERAND_INDICES, &parts->indices, error);
  if (status) return status;
  const gth_tensor_desc out = request.out ? *request.out : dense_output(parts->geometry);
  if ((status = resolve_layout(out, parts->item, GTH_OPERAND_OUT, &parts->out, error))) return status;
  return check_disjoint(out, parts->item, &parts->out, error);
}

int32_t check_readonly(const gth_tensor_desc* out, const Error& error) {
  if (!out || !(out->flags & GTH_TENSOR_READONLY)) return GTH_OK;
  return error.fail({GTH_E_READONLY, GTH_OPERAND_OUT}, "out: the memory is read-only");
}

int32_t check_request(const Request& request, Parts* parts, Plan* plan, const Error& error) {
  const gth_tensor_desc &params = *request.params, &indices = *request.indices;
  resolve_options(request.options, request.op, &parts->settings);
  const int32_t out_dtype = request.out ? request.out->dtype : params.dtype;
  int32_t status = check_dtypes(request.op, parts->settings, params.dtype, indices.dtype, out_dtype, error);
  if (status) return status;
  if ((status = check_definition(request.op, parts->settings, error))) return status;
  parts->item = element_bytes(params.dtype);
  status = resolve_geometry(request.op, parts->settings, params, indices, request.open, &parts->geometry, error);
  if (status) return status;
  if (request.out && (status = check_output_rank(parts->geometry, *request.out, error))) return status;
  if (request.out && (status = check_output_shape(parts->geometry, *request.out, error))) return status;
  if ((status = check_sizes(request, *parts, error))) return status;
  if ((status = resolve_layouts(request, parts, error))) return status;
  if ((status = check_devices(request, plan, error))) return status;
  if ((status = check_readonly(request.out, error))) return status;
  // Tuples of no components are counted, never read.
  if (parts->geometry.components == 0) std::fill_n(parts->indices.strides, indices.ndim, fixed(0));
  return GTH_OK;
}

// What a loop over a params dim steps by. Nothing is read where params has no elements, and its strides have not been
// held against anything.
Scaled params_step(const Parts& parts, int32_t dim) {
  return parts.params.reach.empty ? fixed(0) : parts.params.strides[dim];
}

// Whether `outer` steps exactly over what `inner` covers, so that both are one loop.
bool continues(const Scaled& outer, const Scaled& inner, const Scaled& inner_extent) {
  Scaled span;
  return multiply(inner, inner_extent, &span) && span == outer;
}

// Appends a loop to the group that begins at `first`, merged with its predecessor where the strides allow it.
void append(Plan* plan, int32_t first, const Loop& loop) {
  if (loop.extent.is(1)) return;
  if (plan->end > first) {
    Loop& last = plan->loops[plan->end - 1];
    Scaled extent;
    if (continues(last.params, loop.params, loop.extent) && continues(last.index, loop.index, loop.extent) &&
        continues(last.out, loop.out, loop.extent) && multiply(last.extent, loop.extent, &extent)) {
      last = loop;
      last.extent = extent;
      return;
    }
  }
  plan->loops[plan->end++] = loop;
}

void add_batch_and_outer_loops(const Request& request, const Parts& parts, Plan* plan) {
  const Geometry& geometry = parts.geometry;
  const gth_tensor_desc &params = *request.params, &indices = *request.indices;
  for (int32_t i = 0; i < geometry.batch; ++i) {
    append(plan, 0,
           {extent_of(indices.shape[i]), params_step(parts, i), parts.indices.strides[i], parts.out.strides[i]});
  }
  plan->outer_begin = plan->end;
  for (int32_t i = geometry.batch; i < geometry.axis && !geometry.dealt; ++i) {
    append(plan, plan->outer_begin,
           {extent_of(params.shape[i]), params_step(parts, i), fixed(0), parts.out.strides[i]});
  }
}

// Dim of the output where the tuple dims begin.
int32_t first_tuple_dim(const Geometry& geometry) { return geometry.dealt ? 0 : geometry.axis; }

void add_tuple_loops(const Request& request, const Parts& parts, Plan* plan) {
  const Geometry& geometry = parts.geometry;
  const int32_t shift = first_tuple_dim(geometry) - geometry.tuple_begin;
  plan->tuple_begin = plan->end;
  for (int32_t i = geometry.tuple_begin; i < geometry.tuple_end; ++i) {
    append(plan, plan->tuple_begin,
           {extent_of(request.indices->shape[i]), fixed(0), parts.indices.strides[i], parts.out.strides[i + shift]});
  }
  if (plan->end == plan->tuple_begin) plan->loops[plan->end++] = {fixed(1), fixed(0), fixed(0), fixed(0)};
  plan->line = plan->end - 1;
}

// Inner dims, less the trailing ones that are contiguous in params and output alike: these are the row.
void add_inner_loops(const Request& request, const Parts& parts, Plan* plan) {
  const gth_tensor_desc& params = *request.params;
  const int32_t first = parts.geometry.axis + parts.geometry.components;
  const int32_t shift = parts.geometry.ndim - params.ndim;
  int32_t last = params.ndim;
  plan->row = parts.item;
  for (; last > first; --last) {
    const int64_t extent = params.shape[last - 1];
    const bool is_contiguous =
        parts.params.strides[last - 1].is(plan->row) && parts.out.strides[last - 1 + shift].is(plan->row);
    if (extent != 1 && !is_contiguous) break;
    plan->row *= extent;
  }
  plan->inner = 1;
  for (int32_t i = first; i < last; ++i) {
    plan->inner *= params.shape[i];
    append(plan, plan->line + 1,
           {fixed(params.shape[i]), params_step(parts, i), fixed(0), parts.out.strides[i + shift]});
  }
}

void set_components(const Request& request, const Parts& parts, Plan* plan) {
  const int32_t first = parts.geometry.axis;
  plan->components = parts.geometry.components;
  for (int32_t i = 0; i < plan->components; ++i) {
    plan->component[i] = {request.params->shape[first + i], params_step(parts, first + i).factor};
  }
  const int32_t last = request.indices->ndim - 1;
  plan->index_step = request.op == Op::gather_nd ? parts.indices.strides[last].factor : 0;
  plan->index = index_kind(request.indices->dtype);
}

void set_dealt_batches(const Request& request, const Parts& parts, Plan* plan) {
  plan->dealt = 1;
  plan->dealt_ndim = parts.geometry.dealt ? parts.geometry.axis : 0;
  for (int32_t i = 0; i < plan->dealt_ndim; ++i) {
    plan->dealt_extents[i] = request.params->shape[i];
    plan->dealt_strides[i] = params_step(parts, i).factor;
    plan->dealt *= request.params->shape[i];
  }
}

Scaled product(const int64_t* extents, int32_t begin, int32_t end) {
  Scaled result = fixed(1);
  for (int32_t i = begin; i < end; ++i) {
    const Scaled extent = extent_of(extents[i]);
    result = {result.factor * extent.factor, result.by_n | extent.by_n};
  }
  return result;
}

int32_t first_empty_dim(const gth_tensor_desc& desc) {
  const int64_t* end = desc.shape + desc.ndim;
  const int64_t* found = std::find(desc.shape, end, 0);
  return found == end ? -1 : static_cast<int32_t>(found - desc.shape);
}

void set_counts(const Request& request, const Parts& parts, Plan* plan) {
  const Geometry& geometry = parts.geometry;
  const gth_tensor_desc& params = *request.params;
  plan->tuples = product(request.indices->shape, 0, geometry.tuple_end);
  const Scaled outer = product(params.shape, geometry.batch, geometry.dealt ? geometry.batch : geometry.axis);
  plan->slices = {plan->tuples.factor * outer.factor, plan->tuples.by_n};
  const bool empty_slice = plan->row == 0 || plan->inner == 0;
  const bool empty_outer = outer.is(0);
  plan->is_empty = empty_slice || empty_outer;
  const uint8_t check = parts.settings.rules->empty_check;
  bool meets_empty_dim = false;
  for (int32_t i = 0; i < plan->components; ++i) meets_empty_dim |= plan->component[i].size == 0;
  const bool single_tuple = request.op == Op::gather_nd && request.indices->ndim == 1;
  const bool covers_slice = !empty_slice || (check & check_empty_row);
  const bool covers_outer = !empty_outer || (check & check_empty_outer);
  plan->checks_when_empty = (covers_slice && covers_outer) || (meets_empty_dim && (check & check_empty_dim)) ||
                            (single_tuple && (check & check_single_tuple)) ||
                            (single_tuple && meets_empty_dim && (check & check_single_empty));
  plan->refused_dim = parts.settings.rules->refuses_empty_params ? first_empty_dim(params) : -1;
}

void build(const Request& request, const Parts& parts, Plan* plan) {
  plan->end = 0;
  plan->item = parts.item;
  add_batch_and_outer_loops(request, parts, plan);
  add_tuple_loops(request, parts, plan);
  add_inner_loops(request, parts, plan);
  set_components(request, parts, plan);
  set_dealt_batches(request, parts, plan);
  set_counts(request, parts, plan);
  set_fill(request.params->dtype, parts.settings, plan);
  plan->is_open = plan->tuples.by_n != 0;
  plan->wraps = parts.settings.wraps;
  plan->bounds = parts.settings.bounds;
  plan->threads = parts.settings.threads;
  plan->params_offset = parts.params.reach.empty ? 0 : request.params->offset;
  plan->indices_offset = plan->components ? request.indices->offset : 0;
  plan->out_offset = request.out ? request.out->offset : 0;
  plan->largest_n = std::min({parts.params.largest_n, parts.indices.largest_n, parts.out.largest_n,
                              INT64_MAX / std::max<int64_t>(plan->tuples.factor, 1),
                              INT64_MAX / std::max<int64_t>(plan->slices.factor, 1)});
  plan->params_reach = parts.params.reach;
  plan->indices_reach = parts.indices.reach;
  plan->out_reach = parts.out.reach;
  plan->ndim = parts.geometry.ndim;
  std::copy_n(parts.geometry.shape, plan->ndim, plan->shape);
}

int32_t check_desc(const gth_tensor_desc* desc, int32_t operand, const Error& error) {
  if (int32_t status = check_struct(desc, operand, error)) return status;
  if (desc->flags & ~uint32_t{GTH_TENSOR_READONLY}) {
    return error.fail({GTH_E_VERSION, operand, -1, -1, desc->flags, GTH_TENSOR_READONLY}, "%s: unknown flags %u",
                      operand_name(operand), desc->flags);
  }
  if (desc->reserved) {
    return error.fail({GTH_E_VERSION, operand}, "%s: a reserved field is set", operand_name(operand));
  }
  return GTH_OK;
}

int32_t fail_null(int32_t operand, const Error& error) {
  return error.fail({GTH_E_NULL, operand}, "%s: data is NULL", operand_name(operand));
}

bool overlap(const char* a, const Reach& a_reach, const char* b, const Reach& b_reach, int64_t n) {
  const uintptr_t a_address = reinterpret_cast<uintptr_t>(a), b_address = reinterpret_cast<uintptr_t>(b);
  const uintptr_t a_low = a_address + static_cast<uintptr_t>(a_reach.low_at(n));
  const uintptr_t a_high = a_address + static_cast<uintptr_t>(a_reach.high_at(n));
  const uintptr_t b_low = b_address + static_cast<uintptr_t>(b_reach.low_at(n));
  const uintptr_t b_high = b_address + static_cast<uintptr_t>(b_reach.high_at(n));
  return a_low < b_high && b_low < a_high;
}

int32_t fail_alias(int32_t operand, const Error& error) {
  return error.fail({GTH_E_ALIAS, GTH_OPERAND_OUT, -1, -1, operand, 0}, "out: shares memory with %s",
                    operand_name(operand));
}

}  // namespace

void set_fill(int32_t dtype, const Settings& settings, Plan* plan) {
  plan->fill[0] = plan->fill[1] = 0;
  if (settings.fill == GTH_FILL_ZERO) return;
  const uint64_t* source = settings.fill == GTH_FILL_VALUE ? settings.fill_value : find_dtype(dtype)->fill;
  std::memcpy(plan->fill, source, sizeof plan->fill);
}

int32_t check_structs(const Request& request, const Error& error) {
  if (int32_t status = check_desc(request.params, GTH_OPERAND_PARAMS, error)) return status;
  if (int32_t status = check_desc(request.indices, GTH_OPERAND_INDICES, error)) return status;
  if (request.out) {
    if (int32_t status = check_desc(request.out, GTH_OPERAND_OUT, error)) return status;
  }
  return check_options_struct(request.options, error);
}

int32_t lower(const Request& request, Plan* plan, const Error& error) {
#ifndef GATHER_TESTING  // test builds send everything through the general machinery
  if (lower_dense(request, plan)) return GTH_OK;
#endif
  Parts parts;
  if (int32_t status = check_request(request, &parts, plan, error)) return status;
  build(request, parts, plan);
  return GTH_OK;
}

// A copy is the gather_nd by one tuple of no components, which selects everything.
int32_t lower_copy(const gth_tensor_desc& source, const gth_tensor_desc& destination, int32_t device, int32_t device_id,
                   Plan* plan, const Error& error) {
  constexpr int64_t no_components = 0, one = 1;
  gth_tensor_desc params = source, out = destination, indices = GTH_TENSOR_DESC_INIT;
  if (params.ndim == 0 && out.ndim == 0) {  // gather_nd begins with rank 1
    params.ndim = out.ndim = 1;
    params.shape = out.shape = &one;
    params.strides = out.strides = nullptr;
  }
  indices.dtype = GTH_DTYPE_INT64;
  indices.ndim = 1;
  indices.shape = &no_components;
  indices.device = GTH_DEVICE_CUDA_HOST;  // never read, and no device minds it
  return lower({Op::gather_nd, Open::none, &params, &indices, &out, nullptr, device, device_id}, plan, error);
}

int32_t check_open_extent(const Plan& plan, int64_t n, const Error& error) {
  if (plan.is_open ? n < 0 : n != GTH_OPEN) {
    return error.fail(
        {GTH_E_SHAPE, GTH_OPERAND_PLAN, -1, -1, n, plan.is_open ? 0 : GTH_OPEN},
        plan.is_open ? "plan: n is %" PRId64 ", needed is an extent" : "plan: n is %" PRId64 ", but no extent is open",
        n);
  }
  if (n > plan.largest_n) {
    return error.fail({GTH_E_SIZE, GTH_OPERAND_PLAN, -1, -1, n, plan.largest_n},
                      "plan: n is %" PRId64 ", the largest is %" PRId64, n, plan.largest_n);
  }
  return GTH_OK;
}

int32_t check_run(const Plan& plan, const Pointers& pointers, int64_t n, const Error& error) {
  if (int32_t status = check_open_extent(plan, n, error)) return status;
  const bool has_tuples = plan.tuples.at(n) > 0;
  if (has_tuples && plan.components > 0 && !pointers.indices) return fail_null(GTH_OPERAND_INDICES, error);
  if (!has_tuples || plan.is_empty) return GTH_OK;
  if (!pointers.params && !plan.params_reach.empty) return fail_null(GTH_OPERAND_PARAMS, error);
  if (!pointers.out) return fail_null(GTH_OPERAND_OUT, error);
  if (!plan.params_reach.empty && overlap(pointers.out, plan.out_reach, pointers.params, plan.params_reach, n)) {
    return fail_alias(GTH_OPERAND_PARAMS, error);
  }
  if (plan.components > 0 && overlap(pointers.out, plan.out_reach, pointers.indices, plan.indices_reach, n)) {
    return fail_alias(GTH_OPERAND_INDICES, error);
  }
  return GTH_OK;
}

}  // namespace gather::core
