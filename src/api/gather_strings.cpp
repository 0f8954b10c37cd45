#include "api/make.hpp"
#include "api/string_output.hpp"
#include "core/os/memory.hpp"
#include "core/os/os.hpp"
#include "cpu/string_gather.hpp"
#include "execution/execute.hpp"
#include "execution/storage.hpp"

namespace gather::api {
namespace {

int32_t finish_strings(const Making& making, const Tensor& table, const core::Plan& plan, const int64_t* begins,
                       const int64_t* offsets, Storage* offsets_storage, gth_tensor** out, const Error& error) {
  const int64_t extent = offsets[count_elements(result_desc(making, plan))];
  char* bytes;
  Storage* bytes_storage;
  int32_t status = allocate_storage(*making.context, extent, false, &bytes, &bytes_storage, error);
  if (status) return status;
  const cpu::Executor executor = executor_for(*making.context, plan.threads);
  cpu::gather_string_bytes(plan, table.strings, executor, begins, offsets, bytes);
  return make_string_output(result_desc(making, plan), {offsets, bytes, extent}, table.binary, offsets_storage,
                            bytes_storage, out, error);
}

int32_t gather_strings_into(const Making& making, const Tensor& table, const core::Plan& plan, int64_t* begins,
                            gth_tensor** out, const Error& error) {
  char* offsets;
  Storage* storage;
  const int64_t bytes = (count_elements(result_desc(making, plan)) + 1) * int64_t{sizeof(int64_t)};
  int32_t status = allocate_storage(*making.context, bytes, false, &offsets, &storage, error);
  if (status) return status;
  int64_t* numbers = reinterpret_cast<int64_t*>(offsets);
  status = cpu::gather_string_offsets(plan, table.strings, static_cast<const char*>(making.request.indices->data),
                                      executor_for(*making.context, plan.threads), begins, numbers, error);
  if (!status) status = finish_strings(making, table, plan, begins, numbers, storage, out, error);
  storage->release();
  return status;
}

}  // namespace

int32_t gather_strings(const Making& making, const core::Plan& plan, gth_tensor** out, const Error& error) {
  const Tensor* table = nullptr;
  int32_t status = find_strings(making.given->table, GTH_OPERAND_PARAMS, &table, error);
  if (!status) status = check_string_indices(making, plan, error);
  if (status) return status;
  const int64_t slices = plan.is_empty ? 0 : plan.slices.at(GTH_OPEN) * plan.inner;
  const int64_t bytes = slices * int64_t{sizeof(int64_t)};
  void* begins = core::allocate_zeroed(static_cast<size_t>(bytes));
  if (!begins) return fail_memory(bytes, error);
  core::advise_huge_pages(begins, bytes);
  status = gather_strings_into(making, *table, plan, static_cast<int64_t*>(begins), out, error);
  core::deallocate(begins);
  return status;
}

}  // namespace gather::api
