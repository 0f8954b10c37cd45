#include "cpu/partition_ids.hpp"

#include "api/operands.hpp"
#include "core/base/checked.hpp"
#include "core/base/structs.hpp"
#include "core/meaning/shards.hpp"
#include "core/plan/lower.hpp"
#include "execution/execute.hpp"

// Partitions ids by shard. The ids are resolved as the indices of a gather, but no row is copied.
namespace gather::api {
namespace {

using core::Plan;
using core::Shards;

constexpr uint32_t known_flags = GTH_PARTS_ONCE;

// The structs of a call.
struct Given {
  const gth_tensor_desc* ids;
  const gth_shards* shards;
  const gth_options* options;  // may be NULL
  gth_tensor_desc ids_room;
  gth_shards shards_room;
  gth_options options_room;
};

int32_t check_parts_flags(uint32_t flags, const Error& error) {
  if (!(flags & ~known_flags)) return GTH_OK;
  return error.fail({GTH_E_VERSION, GTH_OPERAND_NONE, -1, -1, flags, known_flags}, "parts: unknown flags 0x%x", flags);
}

// Reads structs and switches. Shards are read first, because a required pointer depends on their kind.
int32_t read_given(Given* given, const Error& error) {
  if (!given->ids) return fail_null(GTH_OPERAND_INDICES, error);
  if (!given->shards) return error.fail({GTH_E_NULL}, "shards is NULL");
  int32_t status = core::read_shards(given->shards, &given->shards_room, &given->shards, error);
  if (!status) status = read_operand(given->ids, GTH_OPERAND_INDICES, &given->ids_room, &given->ids, error);
  if (status || !given->options) return status;
  status = core::read_struct(given->options, &given->options_room, &given->options, GTH_OPERAND_OPTIONS, error);
  if (!status) status = core::check_options(*given->options, core::operation_of(GTH_OP_GATHER), error);
  if (status) return status;
  given->options_room = *given->options;
  given->options_room.fill_dtype = 0;  // No row is filled.
  given->options = &given->options_room;
  if (!given->options->has_padding_index) return GTH_OK;
  return error.fail({GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, has_padding_index), -1, 1, 0},
                    "options: padding_index is set, which gth_partition does not have");
}

int32_t read_parts(const gth_parts* given, gth_parts* room, const gth_parts** out, const Error& error) {
  const int32_t status = core::read_struct(given, room, out, GTH_OPERAND_NONE, error);
  return status ? status : check_parts_flags((*out)->flags, error);
}

// Resolves shards and ids. The plan is that of a gather from a table with rows of one byte. The offset of each row is
// then its number.
int32_t resolve(const Context& context, Given* given, Shards* shards, Plan* plan, const Error& error) {
  if (int32_t status = resolve_tensor(GTH_OPERAND_INDICES, &given->ids, error)) return status;
  if (int32_t status = core::resolve_shards(*given->shards, shards, error)) return status;
  gth_tensor_desc table = GTH_TENSOR_DESC_INIT;
  table.dtype = GTH_DTYPE_UINT8;
  table.ndim = 1;
  table.shape = &shards->rows;
  table.device = context.device;
  table.device_id = context.device_id;
  const auto operands = core::by_role<const gth_tensor_desc*>(&table, given->ids, nullptr);
  return core::lower({operands, &core::operation_of(GTH_OP_GATHER), core::Open::none, core::two_roles, given->options,
                      context.device, context.device_id, true},
                     plan, error);
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

int32_t check_numbers(const char* name, const void* numbers, bool is_needed, const Error& error) {
  if (!numbers && is_needed) return error.fail({GTH_E_NULL}, "parts: %s is NULL", name);
  if (reinterpret_cast<uintptr_t>(numbers) % alignof(int64_t) == 0) return GTH_OK;
  return error.fail({GTH_E_UNSUPPORTED}, "parts: %s is not aligned to 8 bytes", name);
}

int32_t check_number(const char* what, int64_t number, const Error& error) {
  if (number <= cuda::most_partitioned) return GTH_OK;
  return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_NONE, -1, -1, number, cuda::most_partitioned},
                    "shards: on CUDA devices, there are at most %lld %s, not %lld",
                    static_cast<long long>(cuda::most_partitioned), what, static_cast<long long>(number));
}

int32_t check_device_numbers(int64_t n, const Shards& shards, bool once, const Error& error) {
  int32_t status = check_number("ids", n, error);
  if (!status) status = check_number("shards", shards.count, error);
  return status || !once ? status : check_number("rows of unique ids", shards.rows, error);
}

// A device has memory of its own instead of `scratch`. Its limits are checked here, because arrays beyond them would seem
// to overlap other memory.
int32_t check_parts(const gth_parts* parts, int64_t n, const Shards& shards, bool uses_scratch, const Error& error) {
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
  if (int32_t status = check_numbers("scratch", parts->scratch, uses_scratch, error)) return status;
  if (once && parts->order) {
    return error.fail({GTH_E_UNSUPPORTED}, "parts: order must be NULL with GTH_PARTS_ONCE");
  }
  if (!uses_scratch) return check_device_numbers(n, shards, once, error);
  int64_t needed = 0;
  if (int32_t status = scratch_bytes(n, shards, parts->flags, &needed, error)) return status;
  return parts->scratch_bytes < needed ? fail_scratch(parts->scratch_bytes, needed, error) : GTH_OK;
}

// Memory of a call.
struct Area {
  const char* name;
  int32_t operand;
  const void* at;
  core::Span span;
};

Area area_of(const char* name, const int64_t* numbers, int64_t count) {
  int64_t bytes;
  if (!numbers) count = 0;
  if (!core::multiply(count, int64_t{sizeof(int64_t)}, &bytes)) bytes = INT64_MAX;
  return {name, GTH_OPERAND_NONE, numbers, {0, bytes}};
}

// Checks that the arrays of the result overlap neither each other nor what the call reads. On a device, `scratch` is not
// used.
int32_t check_overlap(const gth_parts& parts, const Plan& plan, const void* ids, const Shards& shards,
                      int64_t scratch_bytes, const Error& error) {
  const int64_t n = plan.tuples.at(GTH_OPEN);
  const core::Span ids_span = n ? core::span_of(plan, core::Role::indices, GTH_OPEN, 0) : core::Span{0, 0};
  const int64_t borders = shards.kind == GTH_SHARDS_BORDERS ? shards.count + 1 : 0;
  const Area areas[] = {area_of("counts", parts.counts, shards.count),
                        area_of("local", parts.local, n),
                        area_of("order", parts.order, n),
                        area_of("place", parts.place, n),
                        {"scratch", GTH_OPERAND_NONE, parts.scratch, {0, scratch_bytes}},
                        {"ids", GTH_OPERAND_INDICES, ids, ids_span},
                        area_of("borders", shards.borders, borders)};
  constexpr size_t written = 5, all = sizeof areas / sizeof *areas;
  const auto is_empty = [](const Area& area) { return area.span.low == area.span.high; };
  for (size_t i = 0; i < written; ++i) {
    for (size_t j = i + 1; j < all; ++j) {
      const Area &a = areas[i], &b = areas[j];
      if (is_empty(a) || is_empty(b) || !core::overlap(a.at, a.span, b.at, b.span)) continue;
      return error.fail({GTH_E_ALIAS, GTH_OPERAND_NONE, -1, -1, b.operand, 0}, "parts: %s shares memory with %s",
                        a.name, b.name);
    }
  }
  return GTH_OK;
}

int32_t measure_scratch(Given given, uint32_t flags, int64_t* bytes, const Error& error) {
  Shards shards;
  Plan plan;
  if (int32_t status = read_given(&given, error)) return status;
  if (int32_t status = check_parts_flags(flags, error)) return status;
  if (int32_t status = resolve(default_context, &given, &shards, &plan, error)) return status;
  return scratch_bytes(plan.tuples.at(GTH_OPEN), shards, flags, bytes, error);
}

int32_t partition_ids(gth_context* handle, Given given, const gth_parts* parts, const Error& error) {
  const Context* context = nullptr;
  Shards shards;
  Plan plan;
  gth_parts room;
  if (!parts) return error.fail({GTH_E_NULL}, "parts is NULL");
  if (int32_t status = read_given(&given, error)) return status;
  if (int32_t status = read_parts(parts, &room, &parts, error)) return status;
  if (int32_t status = find_context(handle, &context, error)) return status;
  if (int32_t status = resolve(*context, &given, &shards, &plan, error)) return status;
  const int64_t n = plan.tuples.at(GTH_OPEN);
  if (int32_t status = check_parts(parts, n, shards, !context->cuda, error)) return status;
  const auto* indices = static_cast<const char*>(given.ids->data);
  if (int32_t status =
          core::check_index_run(plan, core::pointers_of(nullptr, indices, nullptr), GTH_OPEN, nullptr, error))
    return status;
  const bool once = parts->flags & GTH_PARTS_ONCE;
  const int64_t scratch = context->cuda ? 0 : parts->scratch_bytes;
  if (int32_t status = check_overlap(*parts, plan, indices, shards, scratch, error)) return status;
  if (context->cuda) return cuda::run_partition(*context->cuda, plan, *given.ids, shards, *parts, error);
  const cpu::PartitionMemory memory{
      parts->counts, parts->local, parts->order, parts->place, static_cast<int64_t*>(parts->scratch), once};
  return cpu::partition(plan, indices, n, shards, memory, executor_for(*context, plan.threads), error);
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;

int32_t gth_partition_scratch(const gth_tensor_desc* ids, const gth_shards* shards, uint32_t flags, int64_t* bytes,
                              gth_error* err) {
  return api_boundary(err, [&](const Error& error) {
    if (!bytes) return error.fail({GTH_E_NULL}, "bytes is NULL");
    return measure_scratch({ids, shards, nullptr, {}, {}, {}}, flags, bytes, error);
  });
}

int32_t gth_partition(gth_context* context, const gth_tensor_desc* ids, const gth_shards* shards,
                      const gth_options* options, const gth_parts* parts, gth_error* err) {
  return api_boundary(err, [&](const Error& error) {
    return partition_ids(context, {ids, shards, options, {}, {}, {}}, parts, error);
  });
}
