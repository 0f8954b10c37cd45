#include "api/run.hpp"

#include <cstring>

#include "api/copy.hpp"
#include "api/execute.hpp"
#include "api/operands.hpp"
#include "core/base/noinline.hpp"
#include "core/plan/layout.hpp"
#include "core/plan/lower.hpp"
#include "core/plan/short.hpp"
#include "cpu/job.hpp"
#include "cpu/run_short.hpp"

namespace gather::api {
namespace {

using core::Open;
using core::Plan;
using core::Request;

// Writes zeros to all elements of a validated tensor with any strides.
GATHER_NOINLINE int32_t write_zeros(const Context& context, const gth_tensor_desc& out, const Error& error) {
  const int64_t bytes = count_bytes(out);
  if (bytes == 0) return GTH_OK;
  if (core::is_dense(out)) {
    std::memset(cpu::moved(static_cast<char*>(const_cast<void*>(out.data)), out.offset), 0, static_cast<size_t>(bytes));
    return GTH_OK;
  }
  static const char zeros[16] = {};
  static const int64_t strides[GTH_MAX_NDIM] = {};
  gth_tensor_desc source = GTH_TENSOR_DESC_INIT;
  source.dtype = out.dtype;
  source.ndim = out.ndim;
  source.shape = out.shape;
  source.strides = strides;
  source.data = zeros;
  source.extent = sizeof zeros;
  return run_copy(context, source, out, error);
}

// Runs a gradient. Zeros are written after all validation. Only a race can fail after that.
int32_t run_gradient(const Context& context, const Plan& plan, const core::Pointers& pointers,
                     const gth_tensor_desc& target, const Error& error) {
  auto write = [&] { return write_zeros(context, target, error); };
  const auto call = [](void* body) { return (*static_cast<decltype(write)*>(body))(); };
  return cpu::run_scatter(plan, cpu::choose_kernels(plan), pointers, {call, &write},
                          executor_for(context, plan.threads), error);
}

int32_t run_request(const Context& context, const Request& request, const Error& error) {
  Plan plan;
  if (int32_t status = lower_request(request, &plan, error)) return status;
  const core::Pointers pointers = pointers_of(request);
  if (int32_t status = check_memory(request, plan, error)) return status;
  return core::operation_of(request.op).is_gradient() ? run_gradient(context, plan, pointers, *request.table, error)
                                                      : execute_once(context, plan, pointers, Output::callers, error);
}

GATHER_NOINLINE int32_t run_read(gth_context* context, const gth_request* given, gth_error* err) noexcept {
  return api_boundary(err, [&](const Error& error) { return run_given(context, given, error); });
}

int32_t run_found(gth_context* handle, const gth_request& given, bool is_found, Request* request, const Error& error) {
  Room room;
  const Context* context = nullptr;
  const int32_t status = finish_operands(handle, given, is_found, Rows::required, &room, &context, request, error);
  return status ? status : run_request(*context, *request, error);
}

}  // namespace

int32_t lower_request(const Request& request, Plan* plan, const Error& error) {
  if (request.table->dtype != GTH_DTYPE_STRING) return core::lower(request, plan, error);
  const int32_t operand = core::operation_of(request.op).roles().table;
  return error.fail({GTH_E_UNSUPPORTED, operand, -1, -1, GTH_DTYPE_STRING, 0},
                    "%s: strings are supported by gth_make only", core::operand_name(operand));
}

int32_t check_memory(const Request& request, const Plan& plan, const Error& error) {
  if (int32_t status = core::check_run(plan, pointers_of(request), GTH_OPEN, nullptr, error)) return status;
  // A gradient also writes slices that no index selects.
  if (request.table->data || !core::operation_of(request.op).is_gradient() || count_bytes(*request.table) == 0) {
    return GTH_OK;
  }
  return error.fail({GTH_E_NULL, GTH_OPERAND_TARGET}, "target: data is NULL");
}

int32_t run_given(gth_context* handle, const gth_request* given, const Error& error) {
  gth_request room;
  if (int32_t status = read_request(given, &room, &given, error)) return status;
  Request request;
  const bool is_found = find_operands_fast(*given, Open::none, Rows::required, &request);
  return run_found(handle, *given, is_found, &request, error);
}

bool run_fast_path(const Context& context, const Request& request) {
  core::Short form;
  return context.device == GTH_DEVICE_CPU && core::lower_short(request, &form) &&
         cpu::run_short(form, pointers_of(request.table->data, request.indices->data, request.rows->data), GTH_OPEN,
                        nullptr);
}

int32_t run_any(gth_context* handle, const gth_request& given, gth_error* err) noexcept {
  Request request;
  const bool is_found = find_operands_fast(given, Open::none, Rows::required, &request);
  // If no operand names a tensor, run_operation has tried the fast path already.
  if (is_found && core::has_short_form(given.op) && is_error_struct(err) &&
      (given.table->tensor || given.indices->tensor || given.rows->tensor)) {
    const Context* context = nullptr;
    if (!find_context(handle, &context, Error(nullptr)) && run_fast_path(*context, request)) return succeed(err);
  }
  return api_boundary(err, [&](const Error& error) { return run_found(handle, given, is_found, &request, error); });
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
