#include "api/make.hpp"
#include "api/string_output.hpp"
#include "cpu/string_scatter.hpp"

namespace gather::api {
namespace {

struct StringOperands {
  const Making& making;
  const Tensor *table, *rows;
};

int32_t finish(const StringOperands& operands, const cpu::StringScatter& on, int64_t* offsets, Storage* offsets_storage,
               gth_tensor** out, const Error& error) {
  if (int32_t status = on.measure(offsets, error)) return status;
  const int64_t extent = offsets[on.target_count];
  char* bytes;
  Storage* storage;
  int32_t status = allocate_storage(*operands.making.context, extent, false, &bytes, &storage, error);
  if (status) return status;
  if ((status = on.copy(offsets, bytes, error))) {
    storage->release();
    return status;
  }
  const bool binary = operands.table->binary || operands.rows->binary;
  return make_string_output(operands.table->desc, {offsets, bytes, extent}, binary, offsets_storage, storage, out,
                            error);
}

int32_t scatter_numbers(const StringOperands& operands, const core::Plan& plan, const cpu::StringScatter& on,
                        gth_tensor** out, const Error& error) {
  const char* indices = static_cast<const char*>(operands.making.request.indices->data);
  int32_t status = on.find(plan, indices, executor_for(*operands.making.context, plan.threads), error);
  if (status) return status;
  char* offsets;
  Storage* storage;
  const int64_t bytes = (on.target_count + 1) * int64_t{sizeof(int64_t)};
  if ((status = allocate_storage(*operands.making.context, bytes, false, &offsets, &storage, error))) return status;
  status = finish(operands, on, reinterpret_cast<int64_t*>(offsets), storage, out, error);
  storage->release();
  return status;
}

}  // namespace

int32_t scatter_strings(const Making& making, const core::Plan& plan, gth_tensor** out, const Error& error) {
  StringOperands operands{making, nullptr, nullptr};
  int32_t status = find_strings(making.given->table, GTH_OPERAND_TARGET, &operands.table, error);
  if (!status) status = find_strings(making.given->rows, GTH_OPERAND_UPDATES, &operands.rows, error);
  if (!status) status = check_string_indices(making, plan, error);
  if (status) return status;
  cpu::StringScatter on{operands.table->strings, operands.rows->strings, count_elements(operands.table->desc),
                        count_elements(operands.rows->desc), nullptr};
  // The product fits int64, because the offsets of both operands are in memory and take more bytes.
  const int64_t bytes = (on.target_count + on.updates_count) * int64_t{sizeof(int64_t)};
  on.numbers = static_cast<int64_t*>(core::allocate(static_cast<size_t>(bytes)));
  if (!on.numbers) return fail_memory(bytes, error);
  status = scatter_numbers(operands, plan, on, out, error);
  core::deallocate(on.numbers);
  return status;
}

}  // namespace gather::api
