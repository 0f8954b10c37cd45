#include "api/make.hpp"

#include "api/run.hpp"
#include "core/plan/layout.hpp"
#include "core/plan/lower.hpp"
#include "core/plan/short.hpp"
#include "execution/copy.hpp"
#include "execution/execute.hpp"

namespace gather::api {
namespace {

using core::Open;
using core::Output;
using core::Plan;
using core::Request;

// Allocates the memory of a dense description.
int32_t allocate_dense(const Context& context, bool zeroed, gth_tensor_desc* desc, Storage** storage,
                       const Error& error) {
  desc->extent = count_bytes(*desc);
  char* data;
  if (int32_t status = allocate_storage(context, desc->extent, zeroed, &data, storage, error)) return status;
  desc->data = data;
  return GTH_OK;
}

// The fast path for gathers that have a short form. Returns false if the general path must run. Otherwise it sets
// `status`.
bool gather_fast_path(const Context& context, const Request& request, gth_tensor** out, int32_t* status,
                      const Error& error) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  int64_t shape[GTH_MAX_NDIM];
  if (context.device != GTH_DEVICE_CPU || !core::infer_short(request, &desc, shape)) return false;
  Storage* storage;
  desc.device = GTH_DEVICE_CPU;
  *status = allocate_dense(context, false, &desc, &storage, error);
  if (*status) return true;
  Request into = request;
  into.set(core::Role::rows, &desc);
  const bool is_done = run_fast_path(context, into);
  if (is_done) *status = make_tensor(desc, storage, out, error);
  if (!is_done || *status) storage->release();
  return is_done;
}

// Executes a plan on the new memory of `desc`, which is that of the written operand, and creates the tensor. Takes
// ownership of `storage`.
int32_t run_into(const Making& making, const Plan& plan, core::Role written, const gth_tensor_desc& desc,
                 Storage* storage, gth_tensor** out, const Error& error) {
  core::Pointers pointers = pointers_of(making.request);
  pointers[written] = static_cast<char*>(const_cast<void*>(desc.data));
  int32_t status = core::check_run(plan, pointers, GTH_OPEN, nullptr, error);
  if (!status) status = execute_once(*making.context, plan, pointers, Output::ours, error);
  if (!status) status = make_tensor(desc, storage, out, error);
  if (status) storage->release();
  return status;
}

GATHER_NOINLINE int32_t gather_new(const Making& making, gth_tensor** out, const Error& error) {
  const Request& request = making.request;
  Plan plan;
  if (int32_t status = core::lower(request, &plan, error)) return status;
  if (request.table->dtype == GTH_DTYPE_STRING) return gather_strings(making, plan, out, error);
  gth_tensor_desc desc = result_desc(making, plan);
  Storage* storage;
  // With bounds = skip, skipped rows of a new tensor are zero.
  const bool zeroed = plan.bounds == GTH_BOUNDS_SKIP;
  if (int32_t status = allocate_dense(*making.context, zeroed, &desc, &storage, error)) return status;
  return run_into(making, plan, core::Role::rows, desc, storage, out, error);
}

// Returns the description of the result of a scatter or a gradient, without data. It is dense, with dtype and shape of
// the table.
gth_tensor_desc dense_table(const Making& making) {
  const gth_tensor_desc& table = *making.request.table;  // NOLINT(clang-analyzer-core.uninitialized.Assign)
  gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(table.dtype, table.ndim, table.shape, nullptr);
  desc.device = making.context->device;
  desc.device_id = making.context->device_id;
  return desc;
}

// Allocates the result. For a scatter it is a copy of the table, and for a gradient it is zero.
int32_t allocate_table(const Making& making, gth_tensor_desc* desc, Storage** storage, const Error& error) {
  if (making.request.operation->is_gradient()) {
    return allocate_dense(*making.context, true, desc, storage, error);
  }
  const int32_t status = copy_dense(*making.context, *making.request.table, desc, storage, error);
  if (status) error.rename_operand(GTH_OPERAND_PARAMS, GTH_OPERAND_TARGET);
  return status;
}

// Validates everything except indices before it allocates memory.
GATHER_NOINLINE int32_t scatter_new(const Making& making, gth_tensor** out, const Error& error) {
  gth_tensor_desc desc = dense_table(making);
  Request request = making.request;
  request.table = &desc;
  Plan plan;
  if (int32_t status = core::lower(request, &plan, error)) return status;
  if (desc.dtype == GTH_DTYPE_STRING) return scatter_strings(making, plan, out, error);
  Storage* storage;
  if (int32_t status = allocate_table(making, &desc, &storage, error)) return status;
  return run_into(making, plan, core::Role::table, desc, storage, out, error);
}

int32_t make(gth_context* handle, const gth_request* given, gth_tensor** out, const Error& error) {
  gth_request read;
  if (int32_t status = read_request(given, &read, &given, error)) return status;
  const bool gathers =
      core::is_operation(given->op) && core::operation_of(given->op).direction == core::Direction::gather;
  if (gathers && given->rows) {
    const int32_t status = check_required(*given, Results::ignored, error);
    return status
               ? status
               : error.fail({GTH_E_VERSION, GTH_OPERAND_OUT}, "out: must be NULL, because the result is a new tensor");
  }
  Making making;
  making.given = given;
  const Results results = gathers ? Results::ignored : Results::required;
  int32_t status = find_operands(handle, *given, Open::none, results, &making, error);
  if (status) return status;
  if (!gathers) return scatter_new(making, out, error);
  const bool is_done =
      core::has_short_form(given->op) && gather_fast_path(*making.context, making.request, out, &status, error);
  return is_done ? status : gather_new(making, out, error);
}

}  // namespace

int32_t find_strings(const gth_tensor_desc* operand, int32_t role, const Tensor** out, const Error& error) {
  if (operand->tensor) return find_tensor(operand->tensor, role, out, error);
  return error.fail({GTH_E_UNSUPPORTED, role, -1, -1, GTH_DTYPE_STRING, 0},
                    "%s: strings cannot be described as memory, only as a tensor", core::operand_name(role));
}

int32_t check_string_indices(const Making& making, const Plan& plan, const Error& error) {
  return core::check_index_run(plan, pointers_of(making.request), GTH_OPEN, nullptr, error);
}

gth_tensor_desc result_desc(const Making& making, const Plan& plan) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(core::rows_dtype_of(making.request), plan.ndim, plan.shape, nullptr);
  desc.device = making.context->device;
  desc.device_id = making.context->device_id;
  return desc;
}

}  // namespace gather::api

using namespace gather::api;

int32_t gth_make(gth_context* context, const gth_request* request, gth_tensor** out, gth_error* err) {
  return api_boundary(out, err, [&](const Error& error) { return make(context, request, out, error); });
}
