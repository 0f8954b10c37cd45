#include "api/operands.hpp"

#include "core/base/noinline.hpp"

namespace gather::api {
namespace {

int32_t read_structs(const gth_request& given, core::Roles roles, Room* room, core::Request* out, const Error& error) {
  if (int32_t status = read_operand(given.table, roles.table, &room->table, &out->table, error)) return status;
  int32_t status = read_operand(given.indices, GTH_OPERAND_INDICES, &room->indices, &out->indices, error);
  if (status) return status;
  if (out->rows && (status = read_operand(out->rows, roles.rows, &room->rows, &out->rows, error))) return status;
  if (!given.options) return GTH_OK;
  status = core::read_struct(given.options, &room->options, &out->options, GTH_OPERAND_OPTIONS, error);
  return status ? status : core::check_options(out->options, out->op, error);
}

// Reads requests with structs of other sizes, and reports errors of invalid requests.
GATHER_NOINLINE int32_t find_operands_slow(gth_context* handle, const gth_request& given, Rows rows, Room* room,
                                           const Context** context, core::Request* out, const Error& error) {
  if (int32_t status = check_required(given, rows, error)) return status;
  const core::Roles roles = core::operation_of(given.op).roles();
  out->rows = rows == Rows::ignored ? nullptr : given.rows;
  if (int32_t status = read_structs(given, roles, room, out, error)) return status;
  if (int32_t status = find_context(handle, context, error)) return status;
  if (int32_t status = resolve_tensor(roles.table, &out->table, error)) return status;
  if (int32_t status = resolve_tensor(GTH_OPERAND_INDICES, &out->indices, error)) return status;
  return out->rows ? resolve_tensor(roles.rows, &out->rows, error) : GTH_OK;
}

// Returns true if no struct of a found request is shorter than in this release.
bool has_all_fields(const gth_request& given, const core::Request& found) {
  return core::has_all_fields(found.table) && core::has_all_fields(found.indices) &&
         (!found.rows || core::has_all_fields(found.rows)) && (!given.options || core::has_all_fields(given.options));
}

}  // namespace

int32_t read_request(const gth_request* given, gth_request* room, const gth_request** out, const Error& error) {
  if (!given) return fail_null(GTH_OPERAND_REQUEST, error);
  return core::read_struct(given, room, out, GTH_OPERAND_REQUEST, error);
}

int32_t find_operands(gth_context* handle, const gth_request& given, core::Open open, Rows rows, Room* room,
                      const Context** context, core::Request* out, const Error& error) {
  const bool is_found = find_operands_fast(given, open, rows, out);
  return finish_operands(handle, given, is_found, rows, room, context, out, error);
}

int32_t finish_operands(gth_context* handle, const gth_request& given, bool is_found, Rows rows, Room* room,
                        const Context** context, core::Request* out, const Error& error) {
  int32_t status;
  if (is_found && has_all_fields(given, *out)) {
    status = given.options ? core::check_options(given.options, given.op, error) : GTH_OK;
    if (!status) status = find_context(handle, context, error);
  } else {
    status = find_operands_slow(handle, given, rows, room, context, out, error);
  }
  if (status) return status;
  out->device = (*context)->device;
  out->device_id = (*context)->device_id;
  return GTH_OK;
}

int32_t fail_absent(int32_t operand, const Error& error) {
  return error.fail({GTH_E_VERSION, operand}, "%s: must be NULL, because the operation has no such operand",
                    core::operand_name(operand));
}

int32_t read_operand(const gth_tensor_desc* given, int32_t role, gth_tensor_desc* room, const gth_tensor_desc** out,
                     const Error& error) {
  if (int32_t status = core::read_struct(given, room, out, role, error)) return status;
  const gth_tensor_desc& desc = **out;
  if (!desc.tensor) return core::check_desc(desc, role, error);
  if (names_tensor_only(desc)) return GTH_OK;
  return error.fail({GTH_E_VERSION, role}, "%s: if a tensor is set, every other field must be 0",
                    core::operand_name(role));
}

int32_t resolve_tensor(int32_t role, const gth_tensor_desc** desc, const Error& error) {
  if (!(*desc)->tensor) return GTH_OK;
  const Tensor* tensor = nullptr;
  if (int32_t status = find_tensor((*desc)->tensor, role, &tensor, error)) return status;
  *desc = &tensor->desc;
  return GTH_OK;
}

int32_t check_required(const gth_request& given, Rows rows, const Error& error) {
  if (!core::is_operation(given.op)) {
    return error.fail({GTH_E_VERSION, GTH_OPERAND_REQUEST, -1, -1, given.op, GTH_OP_LAST},
                      "request: %d is no operation, valid are 1 to %d", given.op, GTH_OP_LAST);
  }
  const core::Operation& operation = core::operation_of(given.op);
  const core::Roles roles = operation.roles();
  if (!given.table) return fail_null(roles.table, error);
  if (!given.indices) return fail_null(GTH_OPERAND_INDICES, error);
  if (!given.rows && rows == Rows::required) return fail_null(roles.rows, error);
  const core::ByRole<const gth_tensor_desc*> operands = core::operands_of(given);
  for (core::Role role : core::every_role) {
    const core::Operand& operand = operation.operands[role];
    if (operands[role] && operand.use == core::Use::absent) return fail_absent(operand.name, error);
  }
  return GTH_OK;
}

}  // namespace gather::api
