#include "api/run.hpp"

#include "api/operands.hpp"
#include "core/base/noinline.hpp"
#include "core/plan/lower.hpp"
#include "core/plan/short.hpp"
#include "cpu/run_short.hpp"
#include "cpu/run_short_bags.hpp"
#include "execution/execute.hpp"
#include "execution/gradient.hpp"

namespace gather::api {
namespace {

using core::Open;
using core::Plan;
using core::Request;

int32_t run_request(const Context& context, const Request& request, const Error& error) {
  Plan plan;
  if (int32_t status = lower_request(request, &plan, error)) return status;
  const core::Pointers pointers = pointers_of(request);
  if (int32_t status = core::check_run(plan, pointers, GTH_OPEN, nullptr, error)) return status;
  return plan.operation->is_gradient() ? run_gradient(context, plan, pointers, *request.table, error)
                                       : execute_once(context, plan, pointers, Output::callers, error);
}

GATHER_NOINLINE int32_t run_read(gth_context* context, const gth_request* given, gth_error* err) noexcept {
  return api_boundary(err, [&](const Error& error) { return run_given(context, given, error); });
}

// The fast path for few bags. Returns false if the request is invalid or of another kind. Nothing has been written then.
GATHER_NOINLINE bool run_bags_at(gth_context* handle, const gth_request& given) {
  const Context* context = nullptr;
  if (!given.table || !given.indices || !given.rows || find_context(handle, &context, Error(nullptr))) return false;
  return context->device == GTH_DEVICE_CPU && run_bags_fast_path(request_of(given), nullptr);
}

int32_t find_and_run(gth_context* handle, const gth_request& given, const Error& error) {
  if (given.op == GTH_OP_GATHER_BAGS && run_bags_at(handle, given)) return GTH_OK;
  Found found;
  const int32_t status = find_operands(handle, given, Open::none, Results::required, &found, error);
  return status ? status : run_request(*found.context, found.request, error);
}

// The fast path for gathers of which an operand names a tensor.
bool run_tensors_fast_path(gth_context* handle, const gth_request& given) {
  const gth_tensor_desc *const table = given.table, *const indices = given.indices, *const rows = given.rows;
  if (!table || !indices || !rows || (!names_tensor(table) && !names_tensor(indices) && !names_tensor(rows))) {
    return false;
  }
  const Request request{core::by_role(find_memory(table), find_memory(indices), find_memory(rows)),
                        &core::operation_of(given.op),
                        Open::none,
                        core::three_roles,
                        given.options,
                        0,
                        0};
  const Context* context = nullptr;
  return request.table && request.indices && request.rows && !find_context(handle, &context, Error(nullptr)) &&
         run_fast_path(*context, request);
}

}  // namespace

int32_t lower_request(const Request& request, Plan* plan, const Error& error) {
  if (request.table->dtype != GTH_DTYPE_STRING) return core::lower(request, plan, error);
  const int32_t operand = request.operation->name_of(core::Role::table);
  return error.fail({GTH_E_UNSUPPORTED, operand, -1, -1, GTH_DTYPE_STRING, 0},
                    "%s: strings are supported by gth_make only", core::operand_name(operand));
}

int32_t run_given(gth_context* handle, const gth_request* given, const Error& error) {
  gth_request room;
  if (int32_t status = read_request(given, &room, &given, error)) return status;
  return find_and_run(handle, *given, error);
}

namespace {

// Replaces the data of an operand. An operand that names a tensor keeps the memory of the tensor.
int32_t place(core::Role role, bool is_tensor, const void* data, Found* found, const Error& error) {
  const int32_t name = found->request.operation->name_of(role);
  if (is_tensor) {
    return data
               ? error.fail({GTH_E_HANDLE, name}, "%s: is a tensor, its address must be NULL", core::operand_name(name))
               : GTH_OK;
  }
  const gth_tensor_desc*& desc = found->request[role];
  gth_tensor_desc& copy = found->operand_copies[role];
  copy = *desc;
  copy.data = data;
  desc = &copy;
  return GTH_OK;
}

int32_t run_at(gth_context* handle, const gth_request* given, const core::ByRole<const void*>& data,
               const Error& error) {
  gth_request room;
  Found found;
  int32_t status = read_request(given, &room, &given, error);
  if (!status) status = find_operands(handle, *given, Open::none, Results::required, &found, error);
  if (status) return status;
  const auto operands = core::operands_of(*given);
  status = core::for_each_role(core::three_roles, [&](core::Role role) GATHER_UNROLLED {
    return place(role, operands[role]->tensor, data[role], &found, error);
  });
  if (status) return status;
  const bool is_done = core::has_short_form(given->op) && run_fast_path(*found.context, found.request);
  return is_done ? GTH_OK : run_request(*found.context, found.request, error);
}

}  // namespace

// In both fast paths, calls would take 40 instructions. Link-time optimisation inlines only some of them by itself.
__attribute__((flatten)) bool run_bags_fast_path(const Request& request, core::Spans* checked) {
  core::ShortBags form;
  if (!core::lower_short_bags(request, &form)) return false;
  const cpu::PoolBags kernel = cpu::choose_short_pooling(form);
  const core::Pointers pointers = pointers_of(request);
  return checked ? cpu::check_short_bags(form, kernel, pointers, GTH_OPEN, nullptr, checked)
                 : cpu::run_short_bags(form, kernel, pointers, GTH_OPEN, nullptr);
}

__attribute__((flatten)) bool run_fast_path(const Context& context, const Request& request) {
  core::Short form;
  return context.device == GTH_DEVICE_CPU && core::lower_short(request, &form) &&
         cpu::run_short(form, core::pointers_of(request.table->data, request.indices->data, request.rows->data),
                        GTH_OPEN, nullptr);
}

int32_t run_any(gth_context* handle, const gth_request& given, gth_error* err) noexcept {
  if (core::has_short_form(given.op) && is_error_struct(err) && run_tensors_fast_path(handle, given)) {
    return succeed(err);
  }
  return api_boundary(err, [&](const Error& error) { return find_and_run(handle, given, error); });
}

}  // namespace gather::api

using namespace gather::api;

int32_t gth_run(gth_context* context, int32_t op, const gth_tensor_desc* table, const gth_tensor_desc* indices,
                const gth_tensor_desc* rows, const gth_options* options, gth_error* err) {
  return run_operation(context, op, table, indices, rows, options, err);
}

int32_t gth_run_request(gth_context* context, const gth_request* request, gth_error* err) {
  if (!request || !gather::core::has_first_fields_only(request) || gather::core::has_more_operands(*request)) {
    return run_read(context, request, err);
  }
  const gth_request& r = *request;
  return run_operation(context, r.op, r.table, r.indices, r.rows, r.options, err);
}

int32_t gth_run_at(gth_context* context, const gth_request* request, const void* table, const void* indices,
                   const void* rows, gth_error* err) {
  return api_boundary(err, [&](const Error& error) {
    return run_at(context, request, gather::core::by_role(table, indices, rows), error);
  });
}
