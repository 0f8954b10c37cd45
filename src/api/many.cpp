#include <algorithm>

#include "api/operands.hpp"
#include "api/plan_object.hpp"
#include "api/run.hpp"
#include "core/base/checked.hpp"
#include "core/base/limits.hpp"
#include "core/base/noinline.hpp"
#include "core/os/memory.hpp"
#include "core/plan/lower.hpp"
#include "core/plan/short.hpp"
#include "cpu/run_short.hpp"
#include "execution/ranges.hpp"

// Runs several requests or several plans in one call. All of them are validated before the first one writes. If all of
// them have a short form, the short forms validate and run them.
namespace gather::api {
namespace {

using core::Plan;

// Validates indices on the CPU. For a device this does nothing, because its stream validates them during the execution.
// Whether the profile rejects params depends on shapes only, so such params cause an error on every device.
int32_t validate_indices(const Context& context, const Plan& plan, const cpu::Kernels& kernels,
                         const core::Pointers& pointers, int64_t n, const Error& error) {
  if (context.cuda && plan.refused_dim < 0) return GTH_OK;
  return cpu::validate(plan, kernels, pointers, n, executor_for(context, plan.threads), error);
}

// ---- Requests

// A validated request.
struct Lowered {
  const Context* context;
  core::Pointers pointers;
  Plan plan;
  cpu::Kernels kernels;
};

GATHER_NOINLINE int32_t validate_request(gth_context* handle, const gth_request* given, int64_t item, Lowered* lowered,
                                         Ranges* ranges, const Error& error) {
  gth_request read;
  Found found;
  const core::Request& request = found.request;
  Plan* const plan = &lowered->plan;
  if (int32_t status = read_request(given, &read, &given, error)) return status;
  int32_t status = find_operands(handle, *given, core::Open::none, Results::required, &found, error);
  if (!status) status = lower_request(request, plan, error);
  if (status) return status;
  lowered->context = found.context;  // NOLINT(clang-analyzer-core.uninitialized.Assign)
  lowered->pointers = pointers_of(request);
  lowered->kernels = cpu::choose_kernels(*plan);
  if ((status = core::check_run(*plan, lowered->pointers, GTH_OPEN, nullptr, error))) return status;
  ranges->add(*plan, lowered->pointers, GTH_OPEN, item);
  return validate_indices(*lowered->context, *plan, lowered->kernels, lowered->pointers, GTH_OPEN, error);
}

struct Requests {
  // The plans of at most this number of requests are kept. The other requests are lowered again when they run, which
  // saves 9 KB for each.
  static constexpr int64_t most_kept = short_items;

  gth_context* context;
  const gth_request* const* requests;
  Lowered* kept = nullptr;

  void keep_in(void* memory) { kept = static_cast<Lowered*>(memory); }

  GATHER_NOINLINE int32_t validate(int64_t i, Ranges* ranges, const Error& error) const {
    Lowered last;
    return validate_request(context, requests[i], i, i < most_kept ? kept + i : &last, ranges, error);
  }
  bool check_short(int64_t i, core::Pointers* pointers, core::Spans* spans) const {
    const gth_request* given = requests[i];
    gth_request room;
    const Context* found = nullptr;
    if (read_request(given, &room, &given, Error(nullptr)) || find_context(context, &found, Error(nullptr)))
      return false;
    if (found->cuda || !core::is_operation(given->op)) return false;
    core::Request request = request_of(*given);
    for (core::Role role : core::EachRole{request.roles}) {
      if (!(request[role] = find_memory(request[role]))) return false;
    }
    if (!request.table || !request.indices || !request.rows) return false;
    *pointers = pointers_of(request);
    if (given->op == GTH_OP_GATHER_BAGS) return run_bags_fast_path(request, spans);
    core::Short form;
    return core::has_short_form(given->op) && !core::has_more_operands(*given) && core::lower_short(request, &form) &&
           cpu::check_short(form, *pointers, GTH_OPEN, nullptr, spans);
  }
  int32_t run_short(int64_t i, const Error& error) const {
    return gth_run_request(context, requests[i], nullptr) ? run_given(context, requests[i], error) : GTH_OK;
  }
  int32_t run(int64_t i, const Error& error) const {
    if (i >= most_kept || kept[i].plan.operation->is_gradient()) return run_given(context, requests[i], error);
    const Lowered& each = kept[i];
    return execute(*each.context, each.plan, each.kernels, each.pointers, GTH_OPEN, Output::callers, error);
  }
};

// ---- Plans

struct Plans {
  static constexpr int64_t most_kept = 0;

  gth_context* context;
  const gth_plan* const* plans;
  const gth_plan_args* const* args;

  void keep_in(void*) {}

  int32_t find(int64_t i, PlanArgs* read, PlanRun* run, const Error& error) const {
    if (int32_t status = read_args(plans[i], args[i], read, error)) return status;
    run->pointers = read->pointers;
    return find_run(context, plans[i], run, error);
  }

  int32_t validate(int64_t i, Ranges* ranges, const Error& error) const {
    PlanArgs read{};
    PlanRun run;
    if (int32_t status = find(i, &read, &run, error)) return status;
    const core::Extents* extents = read.has_extents ? &read.extents : nullptr;
    if (int32_t status = check_run(run, read.n, extents, error)) return status;
    ranges->add(run.plan(), run.pointers, read.n, i);
    return validate_indices(*run.context, run.plan(), run.object->kernels, run.pointers, read.n, error);
  }

  bool check_short(int64_t i, core::Pointers* pointers, core::Spans* spans) const {
    PlanArgs read{};
    PlanRun run;
    if (find(i, &read, &run, Error(nullptr)) || run.context->cuda) return false;
    *pointers = run.pointers;
    return check_short_form(run, read, spans);
  }

  int32_t run_short(int64_t i, const Error& error) const {
    return gth_plan_run_args(context, plans[i], args[i], nullptr) ? run(i, error) : GTH_OK;
  }

  int32_t run(int64_t i, const Error& error) const {
    PlanArgs read{};
    PlanRun run;
    if (int32_t status = find(i, &read, &run, error)) return status;
    return execute(*run.context, run.plan(), run.object->kernels, run.pointers, read.n, Output::callers, error);
  }
};

int32_t check_count(int64_t count, const void* pointers, const Error& error) {
  if (count < 0) {
    return error.fail({GTH_E_SHAPE, GTH_OPERAND_REQUEST, -1, -1, count, 0}, "count is %lld, needed is at least 0",
                      static_cast<long long>(count));
  }
  return count == 0 || pointers ? GTH_OK : fail_null(GTH_OPERAND_REQUEST, error);
}

// Returns true if the items are few, have a short form, are valid, and do not overlap.
template <class Items>
GATHER_NOINLINE bool are_short(const Items& items, int64_t count) {
  if (count > short_items) return false;
  Range memory[short_items * Ranges::most_per_item];
  Ranges ranges(memory, count);
  for (int64_t i = 0; i < count; ++i) {
    core::Pointers pointers;
    core::Spans spans;
    if (!items.check_short(i, &pointers, &spans)) return false;
    ranges.add(spans, pointers, i);
  }
  Range written, other;
  return !ranges.find_overlap(&written, &other);
}

// Calls run(i) for each of the validated items. *item receives the number of one that fails.
template <class Run>
int32_t run_each(int64_t count, int64_t* item, const Error& error, Run&& run) {
  for (*item = 0; *item < count; ++*item) {
    const int32_t status = run(*item);
    if (status) return status == GTH_E_INDEX ? core::fail_index_race(error) : status;
  }
  return GTH_OK;
}

struct Block {
  void* data;

  ~Block() { core::deallocate(data); }
};

// Runs all items. On an error, *item receives the number of the failed item, or -1 if no single item has failed.
template <class Items>
int32_t run_all(Items items, int64_t count, int64_t* item, const Error& error) {
  if (are_short(items, count)) {
    return run_each(count, item, error, [&](int64_t i) { return items.run_short(i, error); });
  }
  int64_t bytes;
  const int64_t kept = std::min(count, Items::most_kept) * int64_t{sizeof(Lowered)};
  if (!core::multiply(count, Ranges::most_per_item * int64_t{sizeof(Range)}, &bytes) ||
      !core::add(bytes, kept, &bytes)) {
    return fail_memory(INT64_MAX, error);
  }
  const Block memory{core::allocate(static_cast<size_t>(bytes))};
  if (!memory.data) return fail_memory(bytes, error);
  Range* const first = static_cast<Range*>(memory.data);
  Ranges ranges(first, count);
  items.keep_in(first + count * Ranges::most_per_item);
  for (*item = 0; *item < count; ++*item) {
    if (int32_t status = items.validate(*item, &ranges, error)) return status;
  }
  Range written, other;
  if (ranges.find_overlap(&written, &other)) {
    *item = written.item;
    return error.fail({GTH_E_ALIAS, written.operand, -1, -1, other.item, 0},
                      "request %lld: %s shares memory with request %lld", static_cast<long long>(written.item),
                      core::operand_name(written.operand), static_cast<long long>(other.item));
  }
  return run_each(count, item, error, [&](int64_t i) { return items.run(i, error); });
}

template <class Items>
int32_t run_many(const Items& items, int64_t count, gth_error* err) {
  int64_t item = -1;
  const int32_t status = api_boundary(err, [&](const Error& error) { return run_all(items, count, &item, error); });
  if (status && is_error_struct(err) && err) err->item = item;
  return status;
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;

int32_t gth_run_many(gth_context* context, int64_t count, const gth_request* const* requests, gth_error* err) {
  const int32_t status = api_boundary(err, [&](const Error& error) { return check_count(count, requests, error); });
  return status ? status : run_many(Requests{context, requests}, count, err);
}

int32_t gth_plan_run_many(gth_context* context, int64_t count, const gth_plan* const* plans,
                          const gth_plan_args* const* args, gth_error* err) {
  const int32_t status =
      api_boundary(err, [&](const Error& error) { return check_count(count, plans && args ? plans : nullptr, error); });
  return status ? status : run_many(Plans{context, plans, args}, count, err);
}
