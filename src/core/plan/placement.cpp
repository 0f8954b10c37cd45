#include "core/plan/placement.hpp"

#include <algorithm>

#include "core/base/noinline.hpp"
#include "core/plan/packed_layout.hpp"
#include "core/types/device.hpp"

namespace gather::core {
namespace {

bool is_pinned_or_managed(int32_t device) {
  return device == GTH_DEVICE_CUDA_HOST || device == GTH_DEVICE_CUDA_MANAGED;
}

void find_device(const Request& request, Plan* plan) {
  plan->device = request.device ? request.device : GTH_DEVICE_CPU;
  plan->device_id = request.device_id;
  if (request.device) return;
  for (Role role : EachRole{request.roles}) {
    const gth_tensor_desc& desc = *request[role];
    if (is_host(desc.device) || !is_known_device(desc.device)) continue;
    plan->device = GTH_DEVICE_CUDA;
    plan->device_id = desc.device_id;
    if (desc.device == GTH_DEVICE_CUDA) return;  // Every device can access managed memory.
  }
}

int32_t check_devices(const Request& request, Plan* plan, const Error& error) {
  find_device(request, plan);
  const Operation& operation = *request.operation;
  return for_each_role(request.roles, [&](Role role) GATHER_UNROLLED {
    return check_operand_device(*request[role], operation.name_of(role), plan->device, plan->device_id, error);
  });
}

int32_t check_packed(const Operation& operation, const Plan& plan, const Error& error) {
  if (plan.device == GTH_DEVICE_CPU) return GTH_OK;
  const int32_t table = operation.name_of(Role::table);
  return error.fail({GTH_E_UNSUPPORTED, table, -1, -1, plan.device, GTH_DEVICE_CPU},
                    "%s: packed rows are run on the CPU only", operand_name(table));
}

gth_tensor_desc dense_output(const Geometry& geometry) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  desc.ndim = geometry.ndim;
  desc.shape = geometry.shape;
  return desc;
}

// Resolves the memory of a packed table and of the operands of its codec.
GATHER_NOINLINE int32_t resolve_packed(const Request& request, const Meaning& meaning, Placement* out,
                                       PackedPlan* packed, const Error& error) {
  const Operation& operation = *request.operation;
  const gth_tensor_desc& table = *request.table;
  packed->codec = meaning.codec;
  packed->number = meaning.dtypes.table->number;
  int32_t status =
      resolve_packed_layout(table, meaning.codec, operation.name_of(Role::table), &out->table, &packed->stride, error);
  if (status) return status;
  for (Role role : EachRole{request.roles & operation.operands.of_codec}) {
    const CodecPart& part = role == Role::scales ? meaning.codec.scale : meaning.codec.zero;
    CodecOperand* const operand = role == Role::scales ? &packed->scales : &packed->zeros;
    status = resolve_part_strides(table, *request[role], meaning.codec, part, (*out)[role], operation.name_of(role),
                                  operand, error);
    if (status) return status;
  }
  if (!request.rows) return GTH_OK;
  return check_decoded_rows(*request.rows, out->rows, meaning.bytes_of(Role::rows), operation.name_of(Role::rows),
                            error);
}

int32_t resolve_layouts(const Request& request, const Meaning& meaning, Placement* out, PackedPlan* packed,
                        const Error& error) {
  const Operation& operation = *meaning.settings.operation;
  const gth_tensor_desc result = dense_output(meaning.geometry);
  const auto desc_of = [&](Role role) -> const gth_tensor_desc& { return request[role] ? *request[role] : result; };
  int32_t status = for_each_role(laid_out(request), [&](Role role) GATHER_UNROLLED {
    if (role == Role::table && request.codec) return GTH_OK;
    return resolve_layout(desc_of(role), meaning.bytes_of(role), operation.name_of(role), &(*out)[role], error);
  });
  if (status) return status;
  packed->codec.structure = Structure::none;
  if (request.codec && (status = resolve_packed(request, meaning, out, packed, error))) return status;
  for (Role role : EachRole{operation.operands.written}) {
    const int32_t operand = operation.name_of(role);
    status = check_disjoint(desc_of(role), meaning.bytes_of(role), operand, &(*out)[role], error);
    if (status) return status;
  }
  return GTH_OK;
}

int32_t check_readonly(const Request& request, const Error& error) {
  const Operation& operation = *request.operation;
  for (Role role : EachRole{request.roles & operation.operands.written}) {
    if (!(request[role]->flags & GTH_TENSOR_READONLY)) continue;
    const int32_t operand = operation.name_of(role);
    return error.fail({GTH_E_READONLY, operand}, "%s: the memory is read-only", operand_name(operand));
  }
  return GTH_OK;
}

}  // namespace

int32_t check_operand_device(const gth_tensor_desc& desc, int32_t operand, int32_t device, int32_t device_id,
                             const Error& error) {
  if (!is_known_device(desc.device)) return fail_device(operand, desc.device, 0, error);
  if (device == GTH_DEVICE_CPU) {
    return is_host(desc.device) ? GTH_OK : fail_device(operand, desc.device, GTH_DEVICE_CPU, error);
  }
  if (is_pinned_or_managed(desc.device)) return GTH_OK;
  if (desc.device != GTH_DEVICE_CUDA) return fail_device(operand, desc.device, GTH_DEVICE_CUDA, error);
  return desc.device_id == device_id ? GTH_OK : fail_device(operand, desc.device_id, device_id, error);
}

int32_t resolve_placement(const Request& request, const Meaning& meaning, Placement* out, Plan* plan,
                          const Error& error) {
  if (int32_t status = resolve_layouts(request, meaning, out, &plan->packed, error)) return status;
  if (int32_t status = check_devices(request, plan, error)) return status;
  if (request.codec) {
    if (int32_t status = check_packed(*request.operation, *plan, error)) return status;
  }
  if (int32_t status = check_readonly(request, error)) return status;
  // Tuples without components are counted, but not read.
  if (meaning.geometry.components == 0) std::fill_n(out->indices.strides, request.indices->ndim, fixed(0));
  return GTH_OK;
}

}  // namespace gather::core
