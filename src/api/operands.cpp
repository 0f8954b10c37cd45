#include "api/operands.hpp"

#include "core/base/noinline.hpp"

namespace gather::api {
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

}  // namespace

int32_t fail_request(const gth_request& given, Results results, const Error& error) {
  if (!core::is_operation(given.op)) return fail_operation(given.op, error);
  const core::Operation& operation = core::operation_of(given.op);
  const core::RoleSet roles = core::set_roles(given), wrong = wrong_roles(operation, roles, results);
  return fail_role(operation, core::first_of(wrong), roles, error);
}

int32_t read_options(const gth_options* given, Found* out, const Error& error) {
  core::Request& request = out->request;
  if (int32_t status = core::read_struct(given, &out->options_copy, &request.options, GTH_OPERAND_OPTIONS, error)) {
    return status;
  }
  return core::check_options(*request.options, *request.operation, error);
}

namespace {

// Checks that only params are packed.
int32_t check_packed(const gth_tensor_desc& desc, int32_t name, const Error& error) {
  return core::check_desc(desc, name, name == GTH_OPERAND_PARAMS, error);
}

// Checks the description of a tensor. Only params and the operands of their codec may be in files.
int32_t check_found(const gth_tensor_desc& desc, int32_t name, const Error& error) {
  if (!(desc.flags & core::tensor_in_files)) return check_packed(desc, name, error);
  const bool may_be_in_files = name == GTH_OPERAND_PARAMS || name == GTH_OPERAND_SCALES || name == GTH_OPERAND_ZEROS;
  return may_be_in_files ? GTH_OK : check_in_memory(desc, name, error);
}

// Reads an operand of the codec. It must be given if and only if the codec has a place for it.
int32_t read_codec_operand(core::Role role, int32_t place, const gth_tensor_desc* given, Found* out,
                           const Error& error) {
  const int32_t name = out->request.operation->name_of(role);
  if (place != GTH_PLACE_OPERAND) {
    return given ? error.fail({GTH_E_VERSION, name}, "%s: must be NULL, because the codec has none",
                              core::operand_name(name))
                 : GTH_OK;
  }
  if (!given) {
    return error.fail({GTH_E_NULL, name}, "%s: must not be NULL, because the rows of this codec do not contain them",
                      core::operand_name(name));
  }
  const gth_tensor_desc* desc = nullptr;
  if (int32_t status = read_operand(given, name, &out->operand_copies[role], &desc, error)) return status;
  if (desc->tensor) out->unknown |= core::set_of(role);
  out->request.set(role, desc);
  return GTH_OK;
}

// Reads the codec of the table, and sets its operands in the request.
int32_t read_codec(Found* out, const Error& error) {
  core::Request& request = out->request;
  const gth_codec* codec = nullptr;
  int32_t status = core::read_struct(request.table->codec, &out->codec_copy, &codec, GTH_OPERAND_CODEC, error);
  if (status) return status;
  request.codec = codec;
  if (!(request.operation->operands.of_codec & core::set_of(core::Role::scales))) return GTH_OK;
  if ((status = read_codec_operand(core::Role::scales, codec->scale_place, codec->scales, out, error))) return status;
  return read_codec_operand(core::Role::zeros, codec->zero_place, codec->zeros, out, error);
}

}  // namespace

int32_t read_others(Found* out, const Error& error) {
  for (core::Role role : core::EachRole{out->others}) {
    const gth_tensor_desc*& desc = out->request[role];
    const gth_tensor_desc* const memory = names_tensor(desc) ? find_memory(desc) : nullptr;
    const int32_t name = out->request.operation->name_of(role);
    if (memory) {
      if (int32_t status = check_found(*memory, name, error)) return status;
      desc = memory;
      continue;
    }
    out->unknown |= core::set_of(role);
    if (int32_t status = read_operand(desc, name, &out->operand_copies[role], &desc, error)) return status;
  }
  const gth_tensor_desc* const table = out->request.table;
  return !table->tensor && table->codec ? read_codec(out, error) : GTH_OK;
}

int32_t resolve_tensors(Found* out, const Error& error) {
  for (core::Role role : core::EachRole{out->unknown}) {
    const int32_t name = out->request.operation->name_of(role);
    if (int32_t status = resolve_tensor(name, &out->request[role], error)) return status;
  }
  const bool is_read = out->request.codec || !out->request.table->codec;
  return is_read ? GTH_OK : read_codec(out, error);
}

int32_t fail_absent(int32_t operand, const Error& error) {
  return error.fail({GTH_E_VERSION, operand}, "%s: must be NULL, because the operation has no such operand",
                    core::operand_name(operand));
}

GATHER_NOINLINE int32_t read_operand(const gth_tensor_desc* given, int32_t name, gth_tensor_desc* room,
                                     const gth_tensor_desc** out, const Error& error) {
  if (int32_t status = core::read_struct(given, room, out, name, error)) return status;
  if (!(*out)->tensor) return check_packed(**out, name, error);
  if (names_tensor_only(**out)) return GTH_OK;
  return error.fail({GTH_E_VERSION, name}, "%s: if a tensor is set, every other field must be 0",
                    core::operand_name(name));
}

int32_t resolve_tensor(int32_t name, const gth_tensor_desc** desc, const Error& error) {
  if (!(*desc)->tensor) return GTH_OK;
  const Tensor* tensor = nullptr;
  if (int32_t status = find_tensor((*desc)->tensor, name, &tensor, error)) return status;
  *desc = &tensor->desc;
  return check_found(**desc, name, error);
}

}  // namespace gather::api
