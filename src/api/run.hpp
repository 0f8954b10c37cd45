#pragma once

#include "api/context.hpp"
#include "api/operands.hpp"
#include "core/base/structs.hpp"
#include "core/meaning/request.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/pointers.hpp"
#include "core/plan/short.hpp"

// Runs one request.
namespace gather::api {

// The fast path for gathers that have a short form. Returns false if the request is invalid or of another kind.
// Nothing has been written then. Precondition: core::has_short_form(request.operation->number).
bool run_fast_path(const Context& context, const core::Request& request);

// The same for few bags. If `checked` is not nullptr, nothing is written, and *checked receives the memory of a valid
// request. Precondition: the request has table, indices and rows, and its device is the CPU.
bool run_bags_fast_path(const core::Request& request, core::Spans* checked);

// Runs a request of the caller, whose struct may have another size.
int32_t run_given(gth_context* handle, const gth_request* given, const Error& error);

// Lowers a request to a plan. Rejects strings.
int32_t lower_request(const core::Request& request, core::Plan* plan, const Error& error);

// Runs a request. If no operand names a tensor, the fast path has been tried.
__attribute__((noinline)) int32_t run_any(gth_context* handle, const gth_request& request, gth_error* err) noexcept;

// Implements gth_run. It is inlined into each exported function, so that operations without a fast path do not try it.
__attribute__((always_inline)) inline int32_t run_operation(gth_context* handle, int32_t op,
                                                            const gth_tensor_desc* table,
                                                            const gth_tensor_desc* indices, const gth_tensor_desc* rows,
                                                            const gth_options* options, gth_error* err) noexcept {
  if (core::has_short_form(op) && is_error_struct(err) && table && indices && rows && !names_tensor(table)) {
    const Context* context = nullptr;
    if (!find_context(handle, &context, Error(nullptr)) &&
        run_fast_path(*context, {core::by_role(table, indices, rows), &core::operation_of(op), core::Open::none,
                                 core::three_roles, options, 0, 0})) {
      return succeed(err);
    }
  }
  return run_any(handle, GTH_REQUEST(op, table, indices, rows, options), err);
}

}  // namespace gather::api
