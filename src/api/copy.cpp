#include "execution/copy.hpp"

#include "api/operands.hpp"

namespace gather::api {
namespace {

int32_t check_plain(const gth_tensor_desc& desc, int32_t operand, const Error& error) {
  if (desc.codec) {
    return error.fail({GTH_E_UNSUPPORTED, operand}, "%s: packed rows cannot be copied, but gathered",
                      core::operand_name(operand));
  }
  if (desc.dtype != GTH_DTYPE_STRING) return check_in_memory(desc, operand, error);
  return error.fail({GTH_E_UNSUPPORTED, operand, -1, -1, GTH_DTYPE_STRING, 0}, "%s: strings cannot be copied",
                    core::operand_name(operand));
}

int32_t copy_operands(gth_context* handle, const gth_tensor_desc* source, const gth_tensor_desc* destination,
                      const Error& error) {
  if (!source) return fail_null(GTH_OPERAND_PARAMS, error);
  if (!destination) return fail_null(GTH_OPERAND_OUT, error);
  gth_tensor_desc source_room, destination_room;
  const Context* context = nullptr;
  int32_t status = read_operand(source, GTH_OPERAND_PARAMS, &source_room, &source, error);
  if (!status) status = read_operand(destination, GTH_OPERAND_OUT, &destination_room, &destination, error);
  if (!status) status = find_context(handle, &context, error);
  if (!status) status = resolve_tensor(GTH_OPERAND_PARAMS, &source, error);
  if (!status) status = resolve_tensor(GTH_OPERAND_OUT, &destination, error);
  if (!status) status = check_plain(*source, GTH_OPERAND_PARAMS, error);
  if (!status) status = check_plain(*destination, GTH_OPERAND_OUT, error);
  return status ? status : run_copy(*context, *source, *destination, error);
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;

int32_t gth_copy(gth_context* context, const gth_tensor_desc* source, const gth_tensor_desc* destination,
                 gth_error* err) {
  return api_boundary(err, [&](const Error& error) { return copy_operands(context, source, destination, error); });
}
