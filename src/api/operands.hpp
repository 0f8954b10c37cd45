#pragma once

#include <cstddef>
#include <cstring>

#include "api/context.hpp"
#include "api/handles.hpp"
#include "api/tensor.hpp"
#include "core/base/noinline.hpp"
#include "core/base/structs.hpp"
#include "core/meaning/request.hpp"

// Reads the operands of a call. Structs of other sizes are copied to structs of the known size. Handles are replaced by
// the descriptions of their tensors.
namespace gather::api {

// A request whose operands have been found.
struct Found {
  const Context* context;
  core::Request request;  // Refers to the caller's structs and to the copies.
  core::RoleSet others;   // the operands that name a tensor, are packed, or whose struct is shorter
  core::RoleSet unknown;  // those whose handle has not been found
  // Copies of structs that are shorter than the library's.
  core::ByRole<gth_tensor_desc> operand_copies;
  gth_options options_copy;
  gth_codec codec_copy;
};

// The operands of a request whose shape the call computes: they must be given, may be given, or are ignored.
enum class Results : uint8_t { required, optional, ignored };

// Reads the struct of a request. *out refers to `given` or to `room`, and not to its operands.
int32_t read_request(const gth_request* given, gth_request* room, const gth_request** out, const Error& error);

// Reports an operand that the operation does not have.
int32_t fail_absent(int32_t operand, const Error& error);

// Returns the operands that a request lacks, and those that its operation does not have.
inline core::RoleSet wrong_roles(const core::Operation& operation, core::RoleSet given, Results results) {
  const core::Operands& operands = operation.operands;
  const core::RoleSet required = operands.required & ~(results == Results::required ? 0 : operands.results);
  return (required & ~given) | (given & ~operands.present);
}

// Reports an unknown operation, or the first of the wrong operands.
__attribute__((cold)) int32_t fail_request(const gth_request& given, Results results, const Error& error);

// Checks that a request has a known operation, all required operands, and no operand that the operation does not have.
inline int32_t check_required(const gth_request& given, Results results, const Error& error) {
  const bool is_right =
      core::is_operation(given.op) && !wrong_roles(core::operation_of(given.op), core::set_roles(given), results);
  return is_right ? GTH_OK : fail_request(given, results, error);
}

// Returns the request that a struct of the current size describes, without checks. Precondition: its operation is
// known.
inline core::Request request_of(const gth_request& given) {
  return {core::operands_of(given),
          &core::operation_of(given.op),
          core::Open::none,
          core::set_roles(given),
          given.options,
          0,
          0};
}

// Returns true if an operand has the known size, names no tensor, and is valid.
inline bool is_memory(const gth_tensor_desc* desc) {
  return desc->size == sizeof(gth_tensor_desc) && !desc->tensor && !desc->codec &&
         !(desc->flags & ~uint32_t{GTH_TENSOR_READONLY});
}

// Returns the operands of a request that are not plain descriptions of memory.
GATHER_UNROLLED inline core::RoleSet find_others(const core::Request& request) {
  core::RoleSet others = 0;
  core::for_each_role(request.roles, [&](core::Role role) GATHER_UNROLLED {
    if (!is_memory(request[role])) others |= core::set_of(role);
    return GTH_OK;
  });
  return others;
}

// The rare steps of find_operands. Replaces operands that name a live tensor, and reads the structs of the others.
GATHER_NOINLINE int32_t read_others(Found* out, const Error& error);
// Reads the options, which are not NULL, and checks their switches.
GATHER_NOINLINE int32_t read_options(const gth_options* given, Found* out, const Error& error);
// Looks up the unknown tensors.
GATHER_NOINLINE int32_t resolve_tensors(Found* out, const Error& error);

// Reads a request in the order that gather.h promises: check_required, structs and switches, handles. Each operand of
// the result describes memory. Precondition: `given` has the known size. A call would take 30 instructions.
GATHER_UNROLLED inline int32_t find_operands(gth_context* handle, const gth_request& given, core::Open open,
                                             Results results, Found* out, const Error& error) {
  if (!core::is_operation(given.op)) return fail_request(given, results, error);
  const core::Operation& operation = core::operation_of(given.op);
  const core::RoleSet roles = core::set_roles(given);
  if (wrong_roles(operation, roles, results)) return fail_request(given, results, error);
  core::Request& request = out->request;
  static_cast<core::ByRole<const gth_tensor_desc*>&>(request) = core::operands_of(given);
  request.operation = &operation;
  request.open = open;
  request.roles = roles;
  request.options = given.options;
  if (results == Results::ignored) {
    for (core::Role role : core::EachRole{operation.operands.results}) request.set(role, nullptr);
  }
  out->others = find_others(request);
  out->unknown = 0;
  int32_t status = out->others ? read_others(out, error) : GTH_OK;
  if (!status && given.options) status = read_options(given.options, out, error);
  if (status) return status;
  if ((status = find_context(handle, &out->context, error))) return status;
  request.device = out->context->device;
  request.device_id = out->context->device_id;
  return out->unknown ? resolve_tensors(out, error) : GTH_OK;
}

// Reads the struct of an operand that is not NULL. Does not look up its tensor.
int32_t read_operand(const gth_tensor_desc* given, int32_t name, gth_tensor_desc* room, const gth_tensor_desc** out,
                     const Error& error);

// Replaces an operand that names a tensor by the description of the tensor.
int32_t resolve_tensor(int32_t name, const gth_tensor_desc** desc, const Error& error);

// Returns true if a description that names a tensor sets no other field. It reads 16 bytes at once. dtype is read
// separately, because a load that covers the recent stores of size and dtype would stall.
inline bool names_tensor_only(const gth_tensor_desc& desc) {
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

// Returns true if an operand names a tensor. Such a tensor must be looked up before the fast path. The parameter is a
// pointer, because a compiler may read a struct behind a reference before its size has been checked.
inline bool names_tensor(const gth_tensor_desc* operand) {
  return core::has_first_fields_only(operand) && operand->tensor;
}

// Finds the description of the memory of an operand for the fast path. Returns nullptr if the operand is invalid. Its
// struct may be that of the first release.
inline const gth_tensor_desc* find_memory(const gth_tensor_desc* operand) {
  if (!operand || !core::has_first_fields_only(operand)) return nullptr;
  if (!operand->tensor) return operand;
  if (!names_tensor_only(*operand)) return nullptr;
  const Content* content = find_slot(token_of(operand->tensor), HandleKind::tensor);
  return content ? &content->as<Tensor>().desc : nullptr;
}

}  // namespace gather::api
