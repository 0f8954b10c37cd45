#include <algorithm>
#include <iterator>
#include <new>

#include "api/operands.hpp"
#include "api/packed_tensor.hpp"
#include "api/tensor.hpp"
#include "core/plan/lower.hpp"

namespace gather::api {
namespace {

using core::Plan;
using core::Role;

// Copies an operand of a codec. A tensor in files keeps its handle, so that a later call detects its release.
void copy_part(const gth_tensor_desc& given, const gth_tensor* handle, PackedTensor::Part* out) {
  if (given.flags & core::tensor_in_files) {
    out->desc = gth_tensor_desc GTH_TENSOR_DESC_HANDLE(handle);
    return;
  }
  out->desc = given;
  std::copy_n(given.shape, given.ndim, out->shape);
  out->desc.shape = out->shape;
  if (!given.strides) return;
  std::copy_n(given.strides, given.ndim, out->strides);
  out->desc.strides = out->strides;
}

// Validates a packed table like the params of a gather of all rows.
int32_t lower_table(const gth_tensor_desc& table, Found* found, Plan* plan, const Error& error) {
  const gth_tensor_desc indices = core::indices_of_all();
  gth_request request = GTH_REQUEST_INIT;
  request.op = GTH_OP_GATHER_ND;
  request.table = &table;
  request.indices = &indices;
  int32_t status = find_operands(nullptr, request, core::Open::none, Results::optional, found, error);
  if (status) return status;
  found->request.device = found->request.device_id = 0;  // The memory determines the device.
  return core::lower(found->request, plan, error);
}

// Checks that the table and the operands of its codec have data, unless they are empty.
int32_t check_data(const Found& found, const Plan& plan, const Error& error) {
  const core::Request& request = found.request;
  const core::RoleSet read = core::set_of(Role::table) | request.operation->operands.of_codec;
  for (Role role : core::EachRole{request.roles & read & plan.nonempty}) {
    if (!request[role]->data) return fail_null(request.operation->name_of(role), error);
  }
  return GTH_OK;
}

void fill_in(const Found& found, const Plan& plan, PackedTensor* out) {
  const core::Request& request = found.request;
  out->codec = *request.codec;
  if (plan.packed.codec.code != core::Code::table4) out->codec.code_table = nullptr;  // It may have other numbers.
  if (out->codec.code_table) {
    std::copy_n(out->codec.code_table, std::size(out->table), out->table);
    out->codec.code_table = out->table;
  }
  if (request.scales) {
    copy_part(*request.scales, request.codec->scales->tensor, &out->scales);
    out->codec.scales = &out->scales.desc;
  }
  if (request.zeros) {
    copy_part(*request.zeros, request.codec->zeros->tensor, &out->zeros);
    out->codec.zeros = &out->zeros.desc;
  }
  int64_t stride = plan.packed.stride;
  const int32_t last = request.table->ndim - 1;
  out->strides[last] = 0;
  for (int32_t i = last; i-- > 0;) {
    out->strides[i] = stride;
    stride *= std::max<int64_t>(request.table->shape[i], 1);  // It fits, because the reach of the rows fits.
  }
}

}  // namespace

int32_t make_packed(const gth_tensor_desc& table, uint32_t flags, Storage* storage, gth_tensor** out,
                    const Error& error) {
  Found found;
  Plan plan;
  if (int32_t status = lower_table(table, &found, &plan, error)) return status;
  if (int32_t status = check_data(found, plan, error)) return status;
  PackedTensor* packed = new (std::nothrow) PackedTensor;
  if (!packed) return fail_memory(sizeof(PackedTensor), error);
  fill_in(found, plan, packed);
  gth_tensor_desc desc = *found.request.table;
  desc.codec = &packed->codec;
  desc.strides = packed->strides;
  desc.flags |= flags;
  const int64_t extent = desc.extent == 0 && !plan.reach.table.empty ? plan.reach.table.high : desc.extent;
  const int32_t status = make_tensor(desc, {GTH_DEVICE_CPU, desc.device_id, extent}, storage, out, error);
  if (status) delete packed;
  return status;
}

namespace {

int32_t borrow(const gth_tensor_desc* desc, gth_tensor** out, const Error& error) {
  if (!desc) return fail_null(GTH_OPERAND_TENSOR, error);
  gth_tensor_desc room;
  if (int32_t status = core::read_struct(desc, &room, &desc, GTH_OPERAND_TENSOR, error)) return status;
  if (int32_t status = core::check_desc(*desc, GTH_OPERAND_TENSOR, true, error)) return status;
  if (desc->codec) {
    const int32_t status = make_packed(*desc, 0, nullptr, out, error);
    if (status) error.rename_operand(GTH_OPERAND_PARAMS, GTH_OPERAND_TENSOR);
    return status;
  }
  MemoryLocation memory;
  if (int32_t status = check_tensor(*desc, &memory, error)) return status;
  return make_tensor(*desc, memory, nullptr, out, error);
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;

int32_t gth_tensor_borrow(const gth_tensor_desc* desc, gth_tensor** out, gth_error* err) {
  return api_boundary(out, err, [&](const Error& error) { return borrow(desc, out, error); });
}
