#include "api/operands.hpp"

#include <cstddef>
#include <cstring>

#include "api/handles.hpp"
#include "core/structs.hpp"

namespace gather::api {
namespace {

// Whether a description that names a tensor sets no other field. It reads 16 bytes at once. dtype is read by itself,
// because a load that spans two recent stores, those of size and dtype, would wait for both.
bool names_tensor_only(const gth_tensor_desc& desc) {
  typedef uint64_t Pair __attribute__((vector_size(16)));
  const auto at = [&](size_t offset) {
    Pair pair;
    std::memcpy(&pair, reinterpret_cast<const char*>(&desc) + offset, sizeof pair);
    return pair;
  };
  const Pair all = at(offsetof(gth_tensor_desc, device)) | at(offsetof(gth_tensor_desc, data)) |
                   at(offsetof(gth_tensor_desc, strides)) | at(offsetof(gth_tensor_desc, offset));
  return (static_cast<uint64_t>(static_cast<uint32_t>(desc.dtype)) | all[0] | all[1]) == 0;
}

// Reads the struct of an operand, without looking at its handle.
int32_t read_operand(const gth_tensor_desc* given, int32_t role, gth_tensor_desc* room, const gth_tensor_desc** out,
                     const Error& error) {
  if (int32_t status = core::read_struct(given, room, out, role, error)) return status;
  const gth_tensor_desc& desc = **out;
  if (!desc.tensor) return core::check_desc(desc, role, error);
  if (names_tensor_only(desc)) return GTH_OK;
  return error.fail({GTH_E_VERSION, role}, "%s: beside a tensor every other field must be zero",
                    core::operand_name(role));
}

int32_t resolve_tensor(int32_t role, const gth_tensor_desc** desc, const Tensor** tensor, const Error& error) {
  *tensor = nullptr;
  if (!(*desc)->tensor) return GTH_OK;
  if (int32_t status = find_tensor((*desc)->tensor, role, tensor, error)) return status;
  *desc = &(*tensor)->desc;
  return GTH_OK;
}

int32_t check_pointers(const gth_request& given, core::Roles roles, bool needs_rows, const Error& error) {
  if (!given.table) return fail_null(roles.table, error);
  if (!given.indices) return fail_null(GTH_OPERAND_INDICES, error);
  return given.rows || !needs_rows ? GTH_OK : fail_null(roles.rows, error);
}

int32_t read_structs(const gth_request& given, core::Roles roles, Room* room, core::Request* out, const Error& error) {
  if (int32_t status = read_operand(given.table, roles.table, &room->table, &out->table, error)) return status;
  int32_t status = read_operand(given.indices, GTH_OPERAND_INDICES, &room->indices, &out->indices, error);
  if (status) return status;
  if (out->rows && (status = read_operand(out->rows, roles.rows, &room->rows, &out->rows, error))) return status;
  if (!given.options) return GTH_OK;
  status = core::read_struct(given.options, &room->options, &out->options, GTH_OPERAND_OPTIONS, error);
  return status ? status : core::check_options(out->options, out->op, error);
}

}  // namespace

int32_t find_operands(gth_context* handle, const gth_request& given, core::Open open, Rows rows, Room* room,
                      Operands* out, const Error& error) {
  if (!core::is_operation(given.op)) {
    return error.fail({GTH_E_VERSION, GTH_OPERAND_REQUEST, -1, -1, given.op, GTH_OP_LAST},
                      "request: %d is no operation, valid are 1 to %d", given.op, GTH_OP_LAST);
  }
  const core::Roles roles = core::operation_of(given.op).roles();
  if (int32_t status = check_pointers(given, roles, rows == Rows::required, error)) return status;
  core::Request& request = out->request;
  request = {given.op, open, nullptr, nullptr, rows == Rows::ignored ? nullptr : given.rows, nullptr, 0, 0};
  if (int32_t status = read_structs(given, roles, room, &request, error)) return status;
  if (int32_t status = find_context(handle, &out->context, error)) return status;
  request.device = out->context->device;
  request.device_id = out->context->device_id;
  if (int32_t status = resolve_tensor(roles.table, &request.table, &out->table, error)) return status;
  if (int32_t status = resolve_tensor(GTH_OPERAND_INDICES, &request.indices, &out->indices, error)) return status;
  out->rows = nullptr;
  return request.rows ? resolve_tensor(roles.rows, &request.rows, &out->rows, error) : GTH_OK;
}

int32_t find_operand(const gth_tensor_desc* given, int32_t role, gth_tensor_desc* room, const gth_tensor_desc** out,
                     const Tensor** tensor, const Error& error) {
  if (!given) return fail_null(role, error);
  if (int32_t status = read_operand(given, role, room, out, error)) return status;
  return resolve_tensor(role, out, tensor, error);
}

const gth_tensor_desc* find_quickly(const gth_tensor_desc* operand) {
  if (!core::has_first_fields_only(operand)) return nullptr;
  if (!operand->tensor) return operand;
  if (!names_tensor_only(*operand)) return nullptr;
  const Content* content = find_slot(token_of(operand->tensor), Kind::tensor);
  return content ? &content->tensor.desc : nullptr;
}

}  // namespace gather::api
