#include "execution/scatter_positions.hpp"

#include <algorithm>
#include <cstddef>

#include "core/plan/lower.hpp"
#include "cpu/scatter_winners.hpp"
#include "execution/computation.hpp"
#include "execution/execute.hpp"

namespace gather::execution {
namespace {

using core::Request;

// Only the maximum and the minimum have positions.
int32_t check_reduction(const Request& request, const Error& error) {
  const int32_t reduction = request.options ? request.options->reduction : 0;
  if (reduction == GTH_REDUCTION_MAX || reduction == GTH_REDUCTION_MIN) return GTH_OK;
  return error.fail(
      {GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, reduction), -1, reduction, GTH_REDUCTION_MIN},
      "options: reduction must be max or min, because other reductions have no positions");
}

// Checks the positions, and the memory that a call uses.
int32_t check_used(const Context& context, const Request& request, const gth_tensor_desc& positions, bool reads_target,
                   const Error& error) {
  const gth_tensor_desc& target = *request.table;
  if (int32_t status = check_form(positions, GTH_OPERAND_OUT, GTH_DTYPE_INT64, target.ndim, target.shape, error)) {
    return status;
  }
  Used used[] = {{reads_target ? &target : nullptr, GTH_OPERAND_TARGET},
                 {request.indices, GTH_OPERAND_INDICES},
                 {request.rows, GTH_OPERAND_UPDATES},
                 {&positions, GTH_OPERAND_OUT, true}};
  return check_memory(context, used, 4, error);
}

// Returns the description of an array of the same elements, without memory.
gth_tensor_desc as_array(const gth_tensor_desc& desc) {
  gth_tensor_desc array = GTH_TENSOR_DESC_DENSE(desc.dtype, desc.ndim, desc.shape, nullptr);
  array.device = desc.device;
  array.device_id = desc.device_id;
  return array;
}

}  // namespace

int32_t run_scatter_positions(const Context& context, const Request& request, const gth_tensor_desc& positions,
                              const Error& error) {
  const gth_tensor_desc &target = *request.table, &updates = *request.rows;
  const gth_tensor_desc table = as_array(target), rows = as_array(updates);
  Request dense = request;
  dense.table = &table;
  dense.rows = &rows;
  core::Plan plan;
  int32_t status = check_reduction(request, error);
  if (!status) status = core::lower(dense, &plan, error);
  if (status) return status;
  const bool reads_target = request.options->initial != GTH_INITIAL_UPDATE;
  const char *numbers = nullptr, *updated = nullptr;
  Bytes target_room, updates_room;
  Numbers out;
  status = check_used(context, request, positions, reads_target, error);
  if (status) return status;
  if (context.cuda) return cuda::run_scatter_positions(*context.cuda, plan, request, positions, error);
  if (reads_target) status = find_dense(context, target, false, &target_room, &numbers, error);
  if (!status) status = find_dense(context, updates, false, &updates_room, &updated, error);
  if (!status) status = allocate(count_elements(target), &out, error);
  if (status) return status;
  if (!reads_target) numbers = reinterpret_cast<const char*>(out.data());  // any memory, of the same size or more
  std::fill_n(out.data(), count_elements(target), int64_t{-1});
  const core::Pointers pointers = core::pointers_of(numbers, request.indices->data, updated);
  status = cpu::find_updates(plan, pointers, out.data(), executor_for(context, plan.threads), error);
  if (status) return status;
  const gth_tensor_desc result = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, target.ndim, target.shape, out.data());
  return copy_elements(context, result, positions, error);
}

}  // namespace gather::execution
