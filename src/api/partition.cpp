#include "cpu/partition.hpp"

#include "api/execute.hpp"
#include "api/operands.hpp"
#include "core/base/checked.hpp"
#include "core/base/structs.hpp"
#include "core/meaning/shards.hpp"
#include "core/plan/lower.hpp"

// Partitions ids by shard. The ids are resolved as the indices of a gather, but no row is copied.
namespace gather::api {
namespace {

using core::Plan;
using core::Shards;

constexpr uint32_t known_flags = GTH_PARTS_ONCE;

// The ids, shards and options of a call.
struct Given {
  const gth_tensor_desc* ids;
  const gth_options* options;
  Shards shards;
  gth_tensor_desc ids_room;
  gth_options options_room;
};

int32_t read_given(const gth_tensor_desc* ids, const gth_shards* shards, const gth_options* options, Given* out,
                   const Error& error) {
  int32_t status = find_operand(ids, GTH_OPERAND_INDICES, &out->ids_room, &out->ids, error);
  if (status) return status;
  if ((status = core::read_shards(shards, &out->shards, error))) return status;
  out->options = nullptr;
  if (!options) return GTH_OK;
  status = core::read_struct(options, &out->options_room, &out->options, GTH_OPERAND_OPTIONS, error);
  return status ? status : core::check_options(out->options, GTH_OP_GATHER, error);
}

// Lowers a gather from a table with rows of one byte. The offset of each row is then its number.
int32_t lower_ids(const Context& context, const Given& given, Plan* plan, const Error& error) {
  if (context.device != GTH_DEVICE_CPU) {
    return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_CONTEXT, -1, -1, context.device, GTH_DEVICE_CPU},
                      "context: ids are partitioned on the CPU only");
  }
  gth_tensor_desc table = GTH_TENSOR_DESC_INIT;
  table.dtype = GTH_DTYPE_UINT8;
  table.ndim = 1;
  table.shape = &given.shards.rows;
  return core::lower(
      {GTH_OP_GATHER, core::Open::none, &table, given.ids, nullptr, given.options, context.device, 0, true}, plan,
      error);
}

int32_t fail_scratch(int64_t given, int64_t needed, const Error& error) {
  return error.fail({GTH_E_SIZE, GTH_OPERAND_NONE, -1, -1, given, needed},
                    "parts: scratch has %lld bytes, needed are %lld", static_cast<long long>(given),
                    static_cast<long long>(needed));
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
  return error.fail({GTH_E_UNSUPPORTED}, "parts: %s is not aligned to 8 bytes", name);
}

int32_t check_parts(const gth_parts* parts, int64_t n, const Shards& shards, const Error& error) {
  if (int32_t status = check_parts_flags(parts->flags, error)) return status;
  const bool once = parts->flags & GTH_PARTS_ONCE;
  if (parts->capacity < n) {
    return error.fail({GTH_E_SIZE, GTH_OPERAND_NONE, -1, -1, parts->capacity, n},
                      "parts: capacity is %lld ids, needed are %lld", static_cast<long long>(parts->capacity),
                      static_cast<long long>(n));
  }
  if (int32_t status = check_numbers("counts", parts->counts, true, error)) return status;
  if (int32_t status = check_numbers("local", parts->local, n > 0, error)) return status;
  if (int32_t status = check_numbers("order", parts->order, false, error)) return status;
  if (int32_t status = check_numbers("place", parts->place, once && n > 0, error)) return status;
  if (int32_t status = check_numbers("scratch", parts->scratch, true, error)) return status;
  if (once && parts->order) {
    return error.fail({GTH_E_UNSUPPORTED}, "parts: order must be NULL with GTH_PARTS_ONCE");
  }
  int64_t needed = 0;
  if (int32_t status = scratch_bytes(n, shards, parts->flags, &needed, error)) return status;
  return parts->scratch_bytes < needed ? fail_scratch(parts->scratch_bytes, needed, error) : GTH_OK;
}

int32_t measure_scratch(const gth_tensor_desc* ids, const gth_shards* shards, uint32_t flags, int64_t* bytes,
                        const Error& error) {
  Given given;
  Plan plan;
  if (int32_t status = read_given(ids, shards, nullptr, &given, error)) return status;
  if (int32_t status = lower_ids(default_context, given, &plan, error)) return status;
  if (int32_t status = check_parts_flags(flags, error)) return status;
  return scratch_bytes(plan.tuples.at(GTH_OPEN), given.shards, flags, bytes, error);
}

int32_t partition_ids(gth_context* handle, const gth_tensor_desc* ids, const gth_shards* shards,
                      const gth_options* options, const gth_parts* parts, const Error& error) {
  const Context* context = nullptr;
  Given given;
  Plan plan;
  gth_parts room;
  if (int32_t status = read_given(ids, shards, options, &given, error)) return status;
  if (int32_t status = find_context(handle, &context, error)) return status;
  if (int32_t status = lower_ids(*context, given, &plan, error)) return status;
  const int64_t n = plan.tuples.at(GTH_OPEN);
  if (!parts) return error.fail({GTH_E_NULL}, "parts is NULL");
  if (int32_t status = core::read_struct(parts, &room, &parts, GTH_OPERAND_NONE, error)) return status;
  if (int32_t status = check_parts(parts, n, given.shards, error)) return status;
  const auto* indices = static_cast<const char*>(given.ids->data);
  if (int32_t status = core::check_index_run(plan, indices, GTH_OPEN, nullptr, error)) return status;
  const cpu::PartitionMemory memory{parts->counts,
                                    parts->local,
                                    parts->order,
                                    parts->place,
                                    static_cast<int64_t*>(parts->scratch),
                                    (parts->flags & GTH_PARTS_ONCE) != 0};
  return cpu::partition(plan, indices, n, given.shards, memory, executor_for(*context, plan.threads), error);
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;

int32_t gth_partition_scratch(const gth_tensor_desc* ids, const gth_shards* shards, uint32_t flags, int64_t* bytes,
                              gth_error* err) {
  return api_boundary(err, [&](const Error& error) {
    if (!bytes) return error.fail({GTH_E_NULL}, "bytes is NULL");
    return measure_scratch(ids, shards, flags, bytes, error);
  });
}

int32_t gth_partition(gth_context* context, const gth_tensor_desc* ids, const gth_shards* shards,
                      const gth_options* options, const gth_parts* parts, gth_error* err) {
  return api_boundary(err,
                      [&](const Error& error) { return partition_ids(context, ids, shards, options, parts, error); });
}
