#include "api/plan_object.hpp"

#include <cinttypes>
#include <new>

#include "api/api_boundary.hpp"
#include "api/handles.hpp"
#include "api/infer.hpp"
#include "api/operands.hpp"
#include "core/base/structs.hpp"
#include "core/plan/lower.hpp"
#include "core/types/device.hpp"
#include "cpu/run_short.hpp"
#include "cpu/run_short_bags.hpp"

namespace gather::api {
namespace {

using core::Open;
using core::Plan;
using core::Request;
using core::Role;

int32_t check_planned(const Request& request, const Error& error) {
  const core::Operation& operation = *request.operation;
  if (operation.is_gradient()) {
    return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_REQUEST, -1, -1, operation.number, 0}, "request: %s has no plan",
                      operation.name);
  }
  if (request.table->dtype == GTH_DTYPE_STRING) {
    const int32_t operand = operation.name_of(Role::table);
    return error.fail({GTH_E_UNSUPPORTED, operand, -1, -1, GTH_DTYPE_STRING, 0}, "%s: strings have no plan",
                      core::operand_name(operand));
  }
  return GTH_OK;
}

int32_t check_device(const Plan& plan, const Error& error) {
  if (plan.device == GTH_DEVICE_CPU || cuda::has_device(plan.device_id)) return GTH_OK;
  return core::fail_device(plan.operation->name_of(Role::table), plan.device, GTH_DEVICE_CPU, error);
}

// Binds the operands of the codec that name a tensor, and keeps the addresses of the others.
void keep_codec_operands(const Request& request, PlanObject* object) {
  for (Role role : core::EachRole{request.roles & request.operation->operands.of_codec}) {
    const gth_tensor_desc& given = role == Role::scales ? *request.codec->scales : *request.codec->zeros;
    object->bound[role] = given.tensor;
    object->kept[role] = request[role]->data;
  }
}

int32_t lower(const gth_request& given, PlanObject* object, const Error& error) {
  Found found;
  int32_t status = find_operands(nullptr, given, Open::one, Results::optional, &found, error);
  if (status) return status;
  Request& request = found.request;
  request.device = request.device_id = 0;  // The operands determine the device.
  if ((status = check_planned(request, error))) return status;
  if ((status = core::lower(request, &object->plan, error))) return status;
  if ((status = check_device(object->plan, error))) return status;
  const auto operands = core::operands_of(given);
  object->bound = {};
  for (Role role : core::EachRole{found.others}) object->bound[role] = operands[role]->tensor;
  if (request.codec) keep_codec_operands(request, object);
  object->is_bound = object->bound_roles() != 0;
  object->of_codec = request.roles & request.operation->operands.of_codec;
  object->dtype = core::rows_dtype_of(request);
  object->kernels = cpu::choose_kernels(object->plan);
  object->is_short = core::shorten(object->plan, &object->short_form);
  object->short_pooling =
      core::shorten_bags(object->plan, &object->short_bags) ? cpu::choose_short_pooling(object->short_bags) : nullptr;
  return GTH_OK;
}

int32_t create(const gth_request* given, gth_plan** out, const Error& error) {
  gth_request room;
  if (int32_t status = read_request(given, &room, &given, error)) return status;
  PlanObject* object = new (std::nothrow) PlanObject;
  if (!object) return fail_memory(sizeof(PlanObject), error);
  const int32_t status = lower(*given, object, error);
  uintptr_t token = 0;
  Content* content = status ? nullptr : acquire_slot(HandleKind::plan, &token);
  if (!content) {
    delete object;
    return status ? status : fail_memory(sizeof(Content), error);
  }
  content->as<void*>() = object;
  publish_slot(token);
  *out = handle_of<gth_plan>(token);
  return GTH_OK;
}

int32_t find_plan(const gth_plan* handle, const PlanObject** out, const Error& error) {
  if (!handle) return fail_null(GTH_OPERAND_PLAN, error);
  const Content* content = find_slot(token_of(handle), HandleKind::plan);
  if (!content) return fail_handle(GTH_OPERAND_PLAN, error);
  *out = static_cast<const PlanObject*>(content->as<void*>());
  return GTH_OK;
}

// Finds context and plan. Rejects pointers of operands that the operation does not have.
int32_t find_unbound_run(gth_context* context, const gth_plan* plan, PlanRun* run, const Error& error) {
  if (!plan) return fail_null(GTH_OPERAND_PLAN, error);
  if (int32_t status = find_context(context, &run->context, error)) return status;
  if (int32_t status = find_plan(plan, &run->object, error)) return status;
  const Plan& planned = run->plan();
  if (__builtin_expect(core::has_more_operands(run->pointers), 0)) {
    const core::Operands& operands = planned.operation->operands;
    const core::RoleSet present = (operands.present & ~operands.of_codec) | run->object->of_codec;
    const core::RoleSet absent = core::set_roles(run->pointers) & ~present;
    if (absent) return fail_absent(planned.operation->name_of(core::first_of(absent)), error);
  }
  const Context& given = *run->context;
  if (planned.device != given.device) return core::fail_device(GTH_OPERAND_PLAN, planned.device, given.device, error);
  if (planned.device_id != given.device_id) {
    return core::fail_device(GTH_OPERAND_PLAN, planned.device_id, given.device_id, error);
  }
  return GTH_OK;
}

// Sets the pointer of a bound operand. Rejects a pointer of the caller for a bound operand.
int32_t bind(const gth_tensor* tensor, int32_t role, char** data, const Error& error) {
  const Tensor* found = nullptr;
  if (int32_t status = find_tensor(tensor, role, &found, error)) return status;
  if (*data) {
    return error.fail({GTH_E_HANDLE, role}, "%s: is bound to a tensor, its pointer must be NULL",
                      core::operand_name(role));
  }
  *data = static_cast<char*>(const_cast<void*>(found->desc.data));
  return GTH_OK;
}

int32_t bind_all(const PlanObject& object, core::RoleSet roles, core::Pointers* pointers, const Error& error) {
  for (Role role : core::EachRole{roles & object.bound_roles()}) {
    const int32_t name = object.plan.operation->name_of(role);
    if (int32_t status = bind(object.bound[role], name, &(*pointers)[role], error)) return status;
  }
  return GTH_OK;
}

__attribute__((noinline)) bool run_bound_fast_path(const PlanObject& object, core::Pointers pointers, int64_t n,
                                                   const core::Extents* given) {
  if (!object.is_short || bind_all(object, object.plan.operation->operands.present, &pointers, Error(nullptr)))
    return false;
  if (!given) return cpu::run_short(object.short_form, pointers, n, nullptr);
  const core::Extents extents = without(object.bound_roles(), *given);
  return cpu::run_short(object.short_form, pointers, n, &extents);
}

// The fast path for plans that have a short form. Returns false if the run is invalid or of another kind.
bool run_plan_fast_path(gth_context* handle, const gth_plan* plan, const core::Pointers& pointers, int64_t n,
                        const core::Extents* given) {
  const Context* context = nullptr;
  if (find_context(handle, &context, Error(nullptr)) || context->device != GTH_DEVICE_CPU) return false;
  const Content* content = find_slot(token_of(plan), HandleKind::plan);
  if (!content) return false;
  const PlanObject& object = *static_cast<const PlanObject*>(content->as<void*>());
  if (__builtin_expect(object.is_bound, 0)) return run_bound_fast_path(object, pointers, n, given);
  return object.is_short && cpu::run_short(object.short_form, pointers, n, given);
}

// Loads a field by itself. The compiler would otherwise load two fields as one vector. If the caller has just set both
// fields, this load waits for two stores, which takes 1.5 ns in each call.
template <class T>
T load_alone(const T& field) {
  T value = field;
  asm("" : "+r"(value));
  return value;
}

int32_t run_plan(gth_context* context, const gth_plan* plan, const core::Pointers& pointers, int64_t n,
                 const core::Extents* extents, const Error& error) {
  PlanRun run{nullptr, nullptr, pointers};
  if (int32_t status = find_run(context, plan, &run, error)) return status;
  const PlanObject& object = *run.object;
  if (object.short_pooling && !object.is_bound &&
      cpu::run_short_bags(object.short_bags, object.short_pooling, run.pointers, n, extents)) {
    return GTH_OK;
  }
  if (int32_t status = check_run(run, n, extents, error)) return status;
  return execute(*run.context, run.plan(), run.object->kernels, run.pointers, n, Output::callers, error);
}

int32_t run_args(gth_context* context, const gth_plan* plan, const gth_plan_args* given, const Error& error) {
  PlanArgs args{};
  if (int32_t status = read_args(plan, given, &args, error)) return status;
  return run_plan(context, plan, args.pointers, args.n, args.has_extents ? &args.extents : nullptr, error);
}

int32_t check_plan(gth_context* context, const gth_plan* plan, const gth_plan_args* given, const Error& error) {
  PlanArgs args{};
  if (int32_t status = read_args(plan, given, &args, error)) return status;
  PlanRun run;
  run.pointers = args.pointers;
  if (int32_t status = find_unbound_run(context, plan, &run, error)) return status;
  const core::RoleSet indices = run.plan().operation->operands.index;
  if (int32_t status = bind_all(*run.object, indices, &run.pointers, error)) return status;
  const core::Extents extents = without(run.object->bound_roles(), args.extents);
  int32_t status =
      core::check_index_run(run.plan(), run.pointers, args.n, args.has_extents ? &extents : nullptr, error);
  if (status) return status;
  if (run.context->cuda) return cuda::validate(*run.context->cuda, run.plan(), run.pointers, args.n, error);
  return cpu::validate(run.plan(), run.object->kernels, run.pointers, args.n,
                       executor_for(*run.context, run.plan().threads), error);
}

int32_t write_extents(const gth_plan* handle, gth_plan_args* args, const Error& error) {
  PlanArgs read{};
  if (int32_t status = read_args(handle, args, &read, error)) return status;
  const PlanObject* object = nullptr;
  if (int32_t status = find_plan(handle, &object, error)) return status;
  if (int32_t status = core::check_open_extent(object->plan, read.n, error)) return status;
  if (int32_t status = core::check_open_ids(object->plan, read.pointers.ids, error)) return status;
  const core::Extents extents = core::extents_of(object->plan, read.n, read.pointers.ids);
  args->flags |= GTH_ARGS_EXTENTS;
#define GATHER_ROLE(name, ...) args->name##_extent = object->bound.name ? 0 : extents.name;
  GATHER_ROLES(GATHER_ROLE)
  GATHER_CODEC_ROLES(GATHER_ROLE)
#undef GATHER_ROLE
  return GTH_OK;
}

int32_t infer(const gth_plan* handle, int64_t n, gth_tensor_desc* rows, int32_t capacity, int64_t* shape,
              const Error& error) {
  if (!handle) return fail_null(GTH_OPERAND_PLAN, error);
  if (int32_t status = check_inferred(rows, error)) return status;
  const PlanObject* object = nullptr;
  if (int32_t status = find_plan(handle, &object, error)) return status;
  const Plan& plan = object->plan;
  if (n != GTH_OPEN) {
    if (int32_t status = core::check_open_extent(plan, n, error)) return status;
  }
  int64_t extents[GTH_MAX_NDIM];
  for (int32_t i = 0; i < plan.ndim; ++i) extents[i] = plan.shape[i] == GTH_OPEN ? n : plan.shape[i];
  const int32_t operand = plan.operation->name_of(Role::rows);
  return write_inferred(operand, object->dtype, plan.ndim, extents, rows, capacity, shape, error);
}

int32_t count_parts(const gth_plan* handle, int64_t n, int64_t* parts, const Error& error) {
  if (!handle) return fail_null(GTH_OPERAND_PLAN, error);
  if (!parts) return error.fail({GTH_E_NULL, GTH_OPERAND_PLAN}, "parts is NULL");
  const PlanObject* object = nullptr;
  if (int32_t status = find_plan(handle, &object, error)) return status;
  if (int32_t status = core::check_open_extent(object->plan, n, error)) return status;
  *parts = core::parts_of(object->plan, n);
  return GTH_OK;
}

int32_t fail_part(const char* name, int64_t value, int64_t limit, const Error& error) {
  return error.fail({GTH_E_SIZE, GTH_OPERAND_PLAN, -1, -1, value, limit},
                    "plan: %s is %" PRId64 ", the limit is %" PRId64, name, value, limit);
}

// The range of parts is validated after the open extent, on which the number of parts depends.
int32_t run_parts(gth_context* context, const gth_plan* plan, const core::Pointers& pointers, int64_t n, int64_t first,
                  int64_t last, const Error& error) {
  PlanRun run{nullptr, nullptr, pointers};
  if (int32_t status = find_run(context, plan, &run, error)) return status;
  const Plan& planned = run.plan();
  if (int32_t status = core::check_open_extent(planned, n, error)) return status;
  const int64_t parts = core::parts_of(planned, n);
  if (last < 0 || last > parts) return fail_part("last", last, parts, error);
  if (first < 0 || first > last) return fail_part("first", first, last, error);
  if (int32_t status = check_run(run, n, nullptr, error)) return status;
  if (first == last) return GTH_OK;
  const cpu::Kernels& kernels = run.object->kernels;
  if (first == 0 && last == parts) {
    return execute(*run.context, planned, kernels, run.pointers, n, Output::callers, error);
  }
  return cpu::run_slices(planned, kernels, run.pointers, n, first, last, executor_for(*run.context, planned.threads),
                         error);
}

// Returns the given sizes of the memory of a run, or nullptr. If operands are bound, their sizes are ignored: *room
// receives the other sizes.
const core::Extents* given_extents(const PlanObject& object, const PlanArgs& args, core::Extents* room) {
  if (!args.has_extents) return nullptr;
  if (!object.is_bound) return &args.extents;
  *room = without(object.bound_roles(), args.extents);
  return room;
}

}  // namespace

core::Extents without(core::RoleSet checked, core::Extents extents) {
  for (Role role : core::EachRole{checked}) extents[role] = INT64_MAX;
  return extents;
}

bool check_short_form(const PlanRun& run, const PlanArgs& args, core::Spans* spans) {
  const PlanObject& object = *run.object;
  core::Extents room;
  const core::Extents* const given = given_extents(object, args, &room);
  if (object.is_short) return cpu::check_short(object.short_form, run.pointers, args.n, given, spans);
  return object.short_pooling &&
         cpu::check_short_bags(object.short_bags, object.short_pooling, run.pointers, args.n, given, spans);
}

int32_t find_run(gth_context* context, const gth_plan* plan, PlanRun* run, const Error& error) {
  if (int32_t status = find_unbound_run(context, plan, run, error)) return status;
  const core::RoleSet present = run->plan().operation->operands.present;
  for (Role role : core::EachRole{run->object->of_codec & ~run->object->bound_roles()}) {
    if (run->pointers[role]) continue;
    run->pointers[role] = static_cast<char*>(const_cast<void*>(run->object->kept[role]));
    run->kept |= core::set_of(role);
  }
  return run->object->is_bound ? bind_all(*run->object, present, &run->pointers, error) : GTH_OK;
}

int32_t read_args(const gth_plan* plan, const gth_plan_args* given, PlanArgs* out, const Error& error) {
  if (!plan) return fail_null(GTH_OPERAND_PLAN, error);
  if (!given) return error.fail({GTH_E_NULL, GTH_OPERAND_PLAN}, "args is NULL");
  gth_plan_args room;
  if (int32_t status = core::read_struct(given, &room, &given, GTH_OPERAND_PLAN, error)) return status;
  if (given->flags & ~uint32_t{GTH_ARGS_EXTENTS}) {
    return error.fail({GTH_E_VERSION, GTH_OPERAND_PLAN, -1, -1, given->flags, GTH_ARGS_EXTENTS},
                      "args: unknown flags %u", given->flags);
  }
#define GATHER_ROLE(name, ...)                                             \
  out->pointers.name = static_cast<char*>(const_cast<void*>(given->name)); \
  out->extents.name = given->name##_extent;
  GATHER_ROLES(GATHER_ROLE)
  GATHER_CODEC_ROLES(GATHER_ROLE)
#undef GATHER_ROLE
  out->n = given->n;
  out->pointers.ids = given->ids;
  out->has_extents = (given->flags & GTH_ARGS_EXTENTS) != 0;
  return GTH_OK;
}

}  // namespace gather::api

using namespace gather::api;

int32_t gth_plan_create(const gth_request* request, gth_plan** out, gth_error* err) {
  return api_boundary(out, err, [&](const Error& error) { return create(request, out, error); });
}

int32_t gth_plan_run(gth_context* context, const gth_plan* plan, int64_t n, const void* table, const void* indices,
                     const void* rows, gth_error* err) {
  const gather::core::Pointers pointers = pointers_of(table, indices, rows);
  if (is_error_struct(err) && run_plan_fast_path(context, plan, pointers, n, nullptr)) return succeed(err);
  return api_boundary(err, [&](const Error& error) { return run_plan(context, plan, pointers, n, nullptr, error); });
}

int32_t gth_plan_run_args(gth_context* context, const gth_plan* plan, const gth_plan_args* args, gth_error* err) {
  if (args && gather::core::has_first_fields_only(args) && args->flags <= GTH_ARGS_EXTENTS &&
      !gather::core::has_more_operands(*args) && is_error_struct(err)) {
    const gather::core::Extents extents{gather::core::by_role(
        load_alone(args->table_extent), load_alone(args->indices_extent), load_alone(args->rows_extent))};
    const gather::core::Pointers pointers =
        pointers_of(load_alone(args->table), load_alone(args->indices), load_alone(args->rows));
    if (run_plan_fast_path(context, plan, pointers, args->n, args->flags ? &extents : nullptr)) return succeed(err);
  }
  return api_boundary(err, [&](const Error& error) { return run_args(context, plan, args, error); });
}

int32_t gth_plan_parts(const gth_plan* plan, int64_t n, int64_t* parts, gth_error* err) {
  return api_boundary(err, [&](const Error& error) { return count_parts(plan, n, parts, error); });
}

int32_t gth_plan_run_parts(gth_context* context, const gth_plan* plan, int64_t n, int64_t first, int64_t last,
                           const void* table, const void* indices, const void* rows, gth_error* err) {
  return api_boundary(err, [&](const Error& error) {
    return run_parts(context, plan, pointers_of(table, indices, rows), n, first, last, error);
  });
}

int32_t gth_plan_check(gth_context* context, const gth_plan* plan, const gth_plan_args* args, gth_error* err) {
  return api_boundary(err, [&](const Error& error) { return check_plan(context, plan, args, error); });
}

int32_t gth_plan_extents(const gth_plan* plan, gth_plan_args* args, gth_error* err) {
  return api_boundary(err, [&](const Error& error) { return write_extents(plan, args, error); });
}

int32_t gth_plan_infer(const gth_plan* plan, int64_t n, gth_tensor_desc* rows, int32_t capacity, int64_t* shape,
                       gth_error* err) {
  return api_boundary(err, [&](const Error& error) { return infer(plan, n, rows, capacity, shape, error); });
}

int32_t gth_plan_release(gth_plan* plan) {
  if (!plan) return GTH_OK;
  void* object;
  if (!release_slot(token_of(plan), HandleKind::plan, [&](const Content& content) { object = content.as<void*>(); })) {
    return GTH_E_HANDLE;
  }
  delete static_cast<PlanObject*>(object);
  return GTH_OK;
}
