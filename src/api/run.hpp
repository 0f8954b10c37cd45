#pragma once

#include "api/context.hpp"
#include "core/plan/plan.hpp"
#include "core/meaning/request.hpp"
#include "core/plan/short.hpp"
#include "core/base/structs.hpp"

// Running one request.
namespace gather::api {

// The fast path: a gather of a few rows of dense memory. Precondition: core::has_short_form(request.op). False if the request is of another kind, or invalid. Nothing has
// been written then.
bool run_shortly(const Context& context, const core::Request& request);

// Whether an operand names a tensor. Operands that do are found before the fast path is tried.
inline bool names_tensor(const gth_tensor_desc& operand) {
  return core::has_first_fields_only(&operand) && operand.tensor;
}

// Runs a request of the known size. is_found and *request are results of find_all_quickly.
int32_t run_found(gth_context* handle, const gth_request& given, bool is_found, core::Request* request,
                  const Error& error);

// Lowers a request to a plan. Strings are refused.
int32_t lower_request(const core::Request& request, core::Plan* plan, const Error& error);

// Checks the memory of a request that has been lowered: NULL and overlap.
int32_t check_memory(const core::Request& request, const core::Plan& plan, const Error& error);

// Every call that the fast path does not run.
__attribute__((noinline)) int32_t run_any(gth_context* handle, const gth_request& request, gth_error* err) noexcept;

// gth_run. Inlined into each exported function, so that an operation without a fast path does not try it.
__attribute__((always_inline)) inline int32_t run_operation(gth_context* handle, int32_t op,
                                                            const gth_tensor_desc* table,
                                                            const gth_tensor_desc* indices, const gth_tensor_desc* rows,
                                                            const gth_options* options, gth_error* err) noexcept {
  if (core::has_short_form(op) && is_error_struct(err) && table && indices && rows && !names_tensor(*table)) {
    const Context* context = nullptr;
    if (!find_context(handle, &context, Error(nullptr)) &&
        run_shortly(*context, {op, core::Open::none, table, indices, rows, options, 0, 0})) {
      return succeed(err);
    }
  }
  return run_any(handle, {sizeof(gth_request), op, table, indices, rows, options}, err);
}

}  // namespace gather::api
