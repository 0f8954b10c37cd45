#include "api/operands.hpp"

#include "core/base/noinline.hpp"

namespace gather::api {
namespace {

int32_t read_options(const gth_options* given, int32_t op, gth_options* room, const gth_options** out,
                     const Error& error) {
  if (!given) return GTH_OK;
  if (int32_t status = core::read_struct(given, room, out, GTH_OPERAND_OPTIONS, error)) return status;
  return core::check_options(*out, op, error);
}

}  // namespace

int32_t read_request(const gth_request* given, gth_request* room, const gth_request** out, const Error& error) {
  if (!given) return fail_null(GTH_OPERAND_REQUEST, error);
  return core::read_struct(given, room, out, GTH_OPERAND_REQUEST, error);
}

namespace {

__attribute__((cold)) int32_t fail_operation(int32_t op, const Error& error) {
  return error.fail({GTH_E_VERSION, GTH_OPERAND_REQUEST, -1, -1, op, GTH_OP_LAST},
                    "request: %d is no operation, valid are 1 to %d", op, GTH_OP_LAST);
}

// Reports a required operand that is NULL, or an operand that the operation does not have.
__attribute__((cold)) int32_t fail_role(const core::Operation& operation, core::Role role, core::RoleSet set,
                                        const Error& error) {
  const int32_t name = operation.name_of(role);
  return set & core::set_of(role) ? fail_absent(name, error) : fail_null(name, error);
}

// Implements check_required. *set receives the operands that are not NULL.
inline int32_t check_roles(const gth_request& given, Results results, core::RoleSet* set, const Error& error) {
  if (!core::is_operation(given.op)) return fail_operation(given.op, error);
  const core::Operands& operands = core::operation_of(given.op).operands;
  *set = core::set_roles(given);
  const core::RoleSet required = operands.required & ~(results == Results::required ? 0 : operands.results);
  const core::RoleSet wrong = (required & ~*set) | (*set & ~operands.present);
  return wrong ? fail_role(core::operation_of(given.op), core::first_of(wrong), *set, error) : GTH_OK;
}

}  // namespace

int32_t check_required(const gth_request& given, Results results, const Error& error) {
  core::RoleSet set;
  return check_roles(given, results, &set, error);
}

int32_t find_operands(gth_context* handle, const gth_request& given, core::Open open, Results results, Room* room,
                      const Context** context, core::Request* out, const Error& error) {
  core::RoleSet set = 0, tensors = 0;
  if (int32_t status = check_roles(given, results, &set, error)) return status;
  const core::Operation& operation = core::operation_of(given.op);
  static_cast<core::ByRole<const gth_tensor_desc*>&>(*out) = core::operands_of(given);
  out->op = given.op;
  out->open = open;
  out->options = given.options;
  if (results == Results::ignored) {
    set &= ~operation.operands.results;
    for (core::Role role : core::EachRole{operation.operands.results}) (*out)[role] = nullptr;
  }
  int32_t status = core::for_each_role(set, [&](core::Role role) GATHER_UNROLLED {
    const gth_tensor_desc*& desc = (*out)[role];
    if (__builtin_expect(is_memory(desc), 1)) return GTH_OK;
    tensors |= core::set_of(role);
    return read_operand(desc, operation.name_of(role), &room->operands[role], &desc, error);
  });
  if (status) return status;
  if ((status = read_options(given.options, given.op, &room->options, &out->options, error))) return status;
  if ((status = find_context(handle, context, error))) return status;
  out->device = (*context)->device;
  out->device_id = (*context)->device_id;
  for (core::Role role : core::EachRole{tensors}) {
    if ((status = resolve_tensor(operation.name_of(role), &(*out)[role], error))) return status;
  }
  return GTH_OK;
}

int32_t fail_absent(int32_t operand, const Error& error) {
  return error.fail({GTH_E_VERSION, operand}, "%s: must be NULL, because the operation has no such operand",
                    core::operand_name(operand));
}

GATHER_NOINLINE int32_t read_operand(const gth_tensor_desc* given, int32_t name, gth_tensor_desc* room,
                                     const gth_tensor_desc** out, const Error& error) {
  if (int32_t status = core::read_struct(given, room, out, name, error)) return status;
  if (!(*out)->tensor) return core::check_desc(**out, name, error);
  if (names_tensor_only(**out)) return GTH_OK;
  return error.fail({GTH_E_VERSION, name}, "%s: if a tensor is set, every other field must be 0",
                    core::operand_name(name));
}

int32_t resolve_tensor(int32_t name, const gth_tensor_desc** desc, const Error& error) {
  if (!(*desc)->tensor) return GTH_OK;
  const Tensor* tensor = nullptr;
  if (int32_t status = find_tensor((*desc)->tensor, name, &tensor, error)) return status;
  *desc = &tensor->desc;
  return GTH_OK;
}

}  // namespace gather::api
