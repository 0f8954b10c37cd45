#include "execution/bag_gradient.hpp"

#include <cinttypes>
#include <memory>
#include <new>

#include "api/operands.hpp"
#include "core/os/memory.hpp"

// Reads the calls of the gradients and positions of bags.
namespace gather::api {
namespace {

// The operands of a call. They are on the heap, because gather_bags needs most of the stack that a call may use.
struct Operands : core::Allocated, Found {};

// Returns what a call requires of the rows of its request, which are the gradient of the output.
Results rows_of(BagResult result) { return has_gradient(result) ? Results::required : Results::ignored; }

int32_t check_pointers(const BagOutputs& call, const gth_request& given, const Error& error) {
  if (given.op != GTH_OP_GATHER_BAGS) {
    return error.fail({GTH_E_VERSION, GTH_OPERAND_REQUEST, -1, -1, given.op, GTH_OP_GATHER_BAGS},
                      "request: operation %" PRId32 " is not gather_bags", given.op);
  }
  if (int32_t status = check_required(given, rows_of(call.result), error)) {
    return fail_updates(call.result, status, error);
  }
  if (!call.target) return fail_null(target_name(call.result), error);
  if (call.result != BagResult::sparse) return GTH_OK;
  if (!call.unique) return fail_null(GTH_OPERAND_OUT, error);
  return call.count ? GTH_OK : error.fail({GTH_E_NULL}, "count is NULL");
}

// Reads all structs before it looks up handles, as gather.h promises.
int32_t compute(gth_context* handle, const gth_request* given, BagOutputs call, Operands* on, const Error& error) {
  gth_request read;
  gth_tensor_desc target_room, unique_room;
  if (int32_t status = read_request(given, &read, &given, error)) return status;
  if (int32_t status = check_pointers(call, *given, error)) return status;
  const int32_t target = target_name(call.result);
  int32_t status = read_operand(call.target, target, &target_room, &call.target, error);
  if (!status && call.unique) status = read_operand(call.unique, GTH_OPERAND_OUT, &unique_room, &call.unique, error);
  if (status) return status;
  status = find_operands(handle, *given, core::Open::none, rows_of(call.result), on, error);
  if (status) return fail_updates(call.result, status, error);
  status = resolve_tensor(target, &call.target, error);
  if (!status && call.unique) status = resolve_tensor(GTH_OPERAND_OUT, &call.unique, error);
  return status ? status : run_bag_call({call, *on->context, on->request}, error);
}

int32_t run_call(gth_context* context, const gth_request* request, const BagOutputs& call, gth_error* err) noexcept {
  return api_boundary(err, [&](const Error& error) {
    const std::unique_ptr<Operands> on(new (std::nothrow) Operands);
    return on ? compute(context, request, call, on.get(), error) : fail_memory(sizeof(Operands), error);
  });
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;

int32_t gth_gather_bags_gradient(gth_context* context, const gth_request* request, const gth_tensor_desc* target,
                                 gth_error* err) {
  return run_call(context, request, {BagResult::params, target, nullptr, nullptr}, err);
}

int32_t gth_gather_bags_sparse_gradient(gth_context* context, const gth_request* request, const gth_tensor_desc* unique,
                                        const gth_tensor_desc* target, int64_t* count, gth_error* err) {
  return run_call(context, request, {BagResult::sparse, target, unique, count}, err);
}

int32_t gth_gather_bags_weight_gradient(gth_context* context, const gth_request* request, const gth_tensor_desc* target,
                                        gth_error* err) {
  return run_call(context, request, {BagResult::weights, target, nullptr, nullptr}, err);
}

int32_t gth_gather_bags_positions(gth_context* context, const gth_request* request, const gth_tensor_desc* positions,
                                  gth_error* err) {
  return run_call(context, request, {BagResult::positions, positions, nullptr, nullptr}, err);
}
