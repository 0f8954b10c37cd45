#include "cpu/partition.hpp"

#include "api/execute.hpp"
#include "api/fence.hpp"
#include "core/checked.hpp"
#include "core/lower.hpp"
#include "core/shards.hpp"

// Ids dealt out to the shards of a table: a gather whose rows are looked for and not copied.
namespace gather::api {
namespace {

using core::Plan;
using core::Request;
using core::Shards;

constexpr uint32_t known_flags = GTH_PARTS_ONCE;

int32_t read_request(const gth_tensor_desc* ids, const gth_shards* given, Shards* shards, const Error& error) {
  if (!ids) return fail_null(GTH_OPERAND_INDICES, error);
  if (int32_t status = core::check_desc(ids, GTH_OPERAND_INDICES, error)) return status;
  return core::read_shards(given, shards, error);
}

// A table of one byte a row, so that the offsets of its rows are their numbers.
int32_t lower_ids(const Context& context, const gth_tensor_desc& ids, const Shards& shards, const gth_options* options,
                  Plan* plan, const Error& error) {
  if (context.device != GTH_DEVICE_CPU) {
    return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_CONTEXT, -1, -1, context.device, GTH_DEVICE_CPU},
                      "context: ids are dealt out on the CPU only");
  }
  gth_tensor_desc table = GTH_TENSOR_DESC_INIT;
  table.dtype = GTH_DTYPE_UINT8;
  table.ndim = 1;
  table.shape = &shards.rows;
  const Request request{core::Op::gather, core::Open::none, &table, &ids, nullptr, options, context.device, 0, true};
  if (int32_t status = core::check_structs(request, error)) return status;
  return core::lower(request, plan, error);
}

int32_t fail_scratch(int64_t given, int64_t needed, const Error& error) {
  return error.fail({GTH_E_SIZE, GTH_OPERAND_NONE, -1, -1, given, needed}, "parts: %lld bytes of scratch, not %lld",
                    static_cast<long long>(given), static_cast<long long>(needed));
}

int32_t scratch_bytes(int64_t n, const Shards& shards, uint32_t flags, int64_t* bytes, const Error& error) {
  int64_t numbers, product;
  if (cpu::scratch_numbers(n, shards.count, flags & GTH_PARTS_ONCE, &numbers) &&
      core::multiply(numbers, int64_t{sizeof(int64_t)}, &product)) {
    *bytes = product;
    return GTH_OK;
  }
  return error.fail({GTH_E_SIZE, GTH_OPERAND_NONE, -1, -1, n, 0}, "parts: the scratch of %lld ids is beyond int64",
                    static_cast<long long>(n));
}

int32_t check_parts_flags(uint32_t flags, const Error& error) {
  if (!(flags & ~known_flags)) return GTH_OK;
  return error.fail({GTH_E_VERSION, GTH_OPERAND_NONE, -1, -1, flags, known_flags}, "parts: unknown flags 0x%x", flags);
}

int32_t check_numbers(const char* name, const void* numbers, bool is_needed, const Error& error) {
  if (!numbers && is_needed) return error.fail({GTH_E_NULL}, "parts: %s is NULL", name);
  if (reinterpret_cast<uintptr_t>(numbers) % alignof(int64_t) == 0) return GTH_OK;
  return error.fail({GTH_E_UNSUPPORTED}, "parts: %s does not lie at a multiple of 8 bytes", name);
}

int32_t check_parts(const gth_parts* parts, int64_t n, const Shards& shards, const Error& error) {
  if (!parts) return error.fail({GTH_E_NULL}, "parts is NULL");
  if (int32_t status = core::check_struct(parts, GTH_OPERAND_NONE, error)) return status;
  if (int32_t status = check_parts_flags(parts->flags, error)) return status;
  const bool once = parts->flags & GTH_PARTS_ONCE;
  if (parts->capacity < n) {
    return error.fail({GTH_E_SIZE, GTH_OPERAND_NONE, -1, -1, parts->capacity, n}, "parts: room for %lld ids, not %lld",
                      static_cast<long long>(parts->capacity), static_cast<long long>(n));
  }
  if (int32_t status = check_numbers("counts", parts->counts, true, error)) return status;
  if (int32_t status = check_numbers("local", parts->local, n > 0, error)) return status;
  if (int32_t status = check_numbers("order", parts->order, false, error)) return status;
  if (int32_t status = check_numbers("place", parts->place, once && n > 0, error)) return status;
  if (int32_t status = check_numbers("scratch", parts->scratch, true, error)) return status;
  if (once && parts->order) {
    return error.fail({GTH_E_UNSUPPORTED}, "parts: a row that is asked for once has no order, only places");
  }
  int64_t needed = 0;
  if (int32_t status = scratch_bytes(n, shards, parts->flags, &needed, error)) return status;
  return parts->scratch_bytes < needed ? fail_scratch(parts->scratch_bytes, needed, error) : GTH_OK;
}

int32_t count_ids(const gth_tensor_desc* ids, const gth_shards* given, Shards* shards, int64_t* n, const Error& error) {
  if (int32_t status = read_request(ids, given, shards, error)) return status;
  Plan plan;
  if (int32_t status = lower_ids(default_context, *ids, *shards, nullptr, &plan, error)) return status;
  *n = plan.tuples.at(GTH_OPEN);
  return GTH_OK;
}

int32_t deal(gth_context* handle, const gth_tensor_desc* ids, const gth_shards* given, const gth_options* options,
             const gth_parts* parts, const Error& error) {
  const Context* context = nullptr;
  Shards shards;
  Plan plan;
  if (int32_t status = read_request(ids, given, &shards, error)) return status;
  if (int32_t status = find_context(handle, &context, error)) return status;
  if (int32_t status = lower_ids(*context, *ids, shards, options, &plan, error)) return status;
  const int64_t n = plan.tuples.at(GTH_OPEN);
  if (int32_t status = check_parts(parts, n, shards, error)) return status;
  const auto* indices = static_cast<const char*>(ids->data);
  if (int32_t status = core::check_judging(plan, indices, GTH_OPEN, error)) return status;
  const cpu::PartsMemory memory{parts->counts,
                                parts->local,
                                parts->order,
                                parts->place,
                                static_cast<int64_t*>(parts->scratch),
                                (parts->flags & GTH_PARTS_ONCE) != 0};
  return cpu::partition(plan, indices, n, shards, memory, executor_for(*context, plan.threads), error);
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;

int32_t gth_partition_scratch(const gth_tensor_desc* ids, const gth_shards* shards, uint32_t flags, int64_t* bytes,
                              gth_error* err) {
  return fence(err, [&](const Error& error) {
    if (!bytes) return error.fail({GTH_E_NULL}, "bytes is NULL");
    gather::core::Shards read;
    int64_t n;
    if (int32_t status = count_ids(ids, shards, &read, &n, error)) return status;
    if (int32_t status = check_parts_flags(flags, error)) return status;
    return scratch_bytes(n, read, flags, bytes, error);
  });
}

int32_t gth_partition(gth_context* context, const gth_tensor_desc* ids, const gth_shards* shards,
                      const gth_options* options, const gth_parts* parts, gth_error* err) {
  return fence(err, [&](const Error& error) { return deal(context, ids, shards, options, parts, error); });
}
