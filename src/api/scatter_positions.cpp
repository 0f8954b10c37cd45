#include "execution/scatter_positions.hpp"

#include <cinttypes>

#include "api/operands.hpp"

// Reads the calls of the positions of scatters.
namespace gather::api {
namespace {

bool has_positions(const core::Operation& operation) {
  return operation.direction == core::Direction::scatter && !operation.is_gradient();
}

// Reads all structs before it looks up handles, as gather.h promises.
int32_t read_and_find(gth_context* handle, const gth_request* given, const gth_tensor_desc* positions,
                      const Error& error) {
  gth_request read;
  gth_tensor_desc room;
  Found found;
  if (int32_t status = read_request(given, &read, &given, error)) return status;
  if (core::is_operation(given->op) && !has_positions(core::operation_of(given->op))) {
    return error.fail({GTH_E_VERSION, GTH_OPERAND_REQUEST, -1, -1, given->op, GTH_OP_SCATTER_ELEMENTS},
                      "request: operation %" PRId32 " is no scatter", given->op);
  }
  int32_t status = check_required(*given, Results::required, error);
  if (!status && !positions) status = fail_null(GTH_OPERAND_OUT, error);
  if (!status) status = read_operand(positions, GTH_OPERAND_OUT, &room, &positions, error);
  if (!status) status = find_operands(handle, *given, core::Open::none, Results::required, &found, error);
  if (!status) status = resolve_tensor(GTH_OPERAND_OUT, &positions, error);
  return status ? status : run_scatter_positions(*found.context, found.request, *positions, error);
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;

int32_t gth_scatter_positions(gth_context* context, const gth_request* request, const gth_tensor_desc* positions,
                              gth_error* err) {
  return api_boundary(err, [&](const Error& error) { return read_and_find(context, request, positions, error); });
}
