#pragma once

#include "api/context.hpp"
#include "core/plan.hpp"
#include "core/request.hpp"
#include "core/structs.hpp"

// Running one request.
namespace gather::api {

// The fast path of one request: a gather of a few rows of dense tensors. False if the request is of another kind, or
// invalid. Nothing has been written then.
bool run_shortly(const Context& context, const core::Request& request);

// The same where operands name tensors.
__attribute__((noinline)) bool run_tensors_shortly(const Context& context, const core::Request& request);

// Reads and runs a request of the known size.
int32_t run_found(gth_context* handle, const gth_request& given, const Error& error);

// Lowers a request to a plan. Strings are refused.
int32_t lower_request(const core::Request& request, core::Plan* plan, const Error& error);

// Every call that the fast path does not run.
__attribute__((noinline)) int32_t run_any(gth_context* handle, const gth_request& request, gth_error* err) noexcept;

inline bool has_fast_path(int32_t op) { return op == GTH_OP_GATHER || op == GTH_OP_GATHER_ND; }

inline bool names_tensor(const gth_tensor_desc* operand) {
  return core::has_first_fields_only(operand) && operand->tensor;
}

// gth_run. Inlined into each exported function, so that an operation without a fast path does not try it.
__attribute__((always_inline)) inline int32_t run_operation(gth_context* handle, int32_t op,
                                                            const gth_tensor_desc* table,
                                                            const gth_tensor_desc* indices, const gth_tensor_desc* rows,
                                                            const gth_options* options, gth_error* err) noexcept {
  if (has_fast_path(op) && is_error_struct(err) && table && indices && rows) {
    const Context* context = nullptr;
    const core::Request request{op, core::Open::none, table, indices, rows, options, 0, 0};
    if (!find_context(handle, &context, Error(nullptr)) &&
        (names_tensor(table) ? run_tensors_shortly(*context, request)
                             : run_shortly(*context, request) || ((names_tensor(indices) || names_tensor(rows)) &&
                                                                  run_tensors_shortly(*context, request)))) {
      return succeed(err);
    }
  }
  return run_any(handle, {sizeof(gth_request), op, table, indices, rows, options}, err);
}

}  // namespace gather::api
