#include "core/plan/lower.hpp"

#include "core/base/noinline.hpp"
#include "core/meaning/bag_meaning.hpp"
#include "core/plan/build.hpp"
#include "core/plan/build_bags.hpp"
#include "core/plan/placement.hpp"

namespace gather::core {
namespace {

// Builds the plan of any request. The layouts of the operands are in a frame of their own, because a caller that
// contains this function would keep their memory while it runs the plan.
GATHER_NOINLINE int32_t build_any(const Request& request, const Meaning& meaning, bool has_bags, Plan* plan,
                                  const Error& error) {
  Placement placement;
  if (int32_t status = resolve_placement(request, meaning, &placement, plan, error)) return status;
  has_bags ? build_bags(request, meaning, placement, plan) : build(request, meaning, placement, plan);
  return GTH_OK;
}

// Repeats updates for each tuple: a stride of 0 leads from tuple to tuple.
GATHER_NOINLINE int32_t build_repeated(const Request& request, const Meaning& meaning, Plan* plan, const Error& error) {
  const gth_tensor_desc& updates = *request.rows;
  const int32_t ndim = meaning.geometry.ndim, first = ndim - updates.ndim;
  int64_t strides[GTH_MAX_NDIM] = {}, dense = meaning.bytes_of(Role::rows);
  for (int32_t i = updates.ndim; i-- > 0;) {
    strides[first + i] = updates.strides ? updates.strides[i] : dense;
    dense *= updates.shape[i];
  }
  gth_tensor_desc repeated = updates;
  repeated.ndim = ndim;
  repeated.shape = meaning.geometry.shape;
  repeated.strides = strides;
  Request with_rows = request;
  with_rows.rows = &repeated;
  return build_any(with_rows, meaning, false, plan, error);
}

RoleSet find_files(const Request& request) {
  RoleSet in_files = 0;
  for_each_role(request.roles, [&](Role role) GATHER_UNROLLED {
    if (request[role]->flags & tensor_in_files) in_files |= set_of(role);
    return GTH_OK;
  });
  return in_files;
}

}  // namespace

int32_t lower(const Request& request, Plan* plan, const Error& error) {
  Meaning meaning;
  plan->in_files = find_files(request);
  const bool has_bags = request.operation->form == Form::bags;
  const int32_t status =
      has_bags ? resolve_bags_meaning(request, &meaning, error) : resolve_meaning(request, &meaning, error);
  if (status) return status;
  if (!has_bags && meaning.repeats_updates) return build_repeated(request, meaning, plan, error);
#ifndef GATHER_TESTING  // Test builds use build() for every request.
  if (!has_bags && build_dense(request, meaning, plan)) return GTH_OK;
#endif
  return build_any(request, meaning, has_bags, plan, error);
}

gth_tensor_desc indices_of_all() {
  static constexpr int64_t no_components = 0;
  gth_tensor_desc indices = GTH_TENSOR_DESC_INIT;
  indices.dtype = GTH_DTYPE_INT64;
  indices.ndim = 1;
  indices.shape = &no_components;
  indices.device = GTH_DEVICE_CUDA_HOST;  // Every device accepts it. Indices without components are not read.
  return indices;
}

int32_t lower_copy(const gth_tensor_desc& source, const gth_tensor_desc& destination, int32_t device, int32_t device_id,
                   Plan* plan, const Error& error) {
  constexpr int64_t one = 1;
  gth_tensor_desc table = source, out = destination;
  const gth_tensor_desc indices = indices_of_all();
  if (table.ndim == 0 && out.ndim == 0) {  // gather_nd requires rank 1.
    table.ndim = out.ndim = 1;
    table.shape = out.shape = &one;
    table.strides = out.strides = nullptr;
  }
  const auto operands = by_role<const gth_tensor_desc*>(&table, &indices, &out);
  return lower({operands, &operation_of(GTH_OP_GATHER_ND), Open::none, three_roles, nullptr, device, device_id}, plan,
               error);
}

}  // namespace gather::core
