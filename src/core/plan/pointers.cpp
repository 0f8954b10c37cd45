#include "core/plan/pointers.hpp"

#include <algorithm>
#include <cinttypes>

#include "core/base/noinline.hpp"

namespace gather::core {
namespace {

int32_t fail_null_data(int32_t operand, const Error& error) {
  return error.fail({GTH_E_NULL, operand}, "%s: data is NULL", operand_name(operand));
}

int32_t fail_alias(int32_t written, int32_t read, const Error& error) {
  return error.fail({GTH_E_ALIAS, written, -1, -1, read, 0}, "%s: shares memory with %s", operand_name(written),
                    operand_name(read));
}

int32_t check_extent(int32_t operand, int64_t given, int64_t needed, const Error& error) {
  if (given >= needed) return GTH_OK;
  return error.fail({GTH_E_SIZE, operand, -1, -1, given, needed},
                    "%s: memory of %" PRId64 " bytes, needed are %" PRId64, operand_name(operand), given, needed);
}

// Checks the open numbers of a run, and the sizes of the memory of `roles` if they are given.
int32_t check_sizes(const Plan& plan, RoleSet roles, int64_t n, int64_t ids, const Extents* given, const Error& error) {
  if (int32_t status = check_open_extent(plan, n, error)) return status;
  if (int32_t status = check_open_ids(plan, ids, error)) return status;
  if (!given) return GTH_OK;
  const Extents needed = extents_of(plan, n, ids);
  for (Role role : EachRole{roles}) {
    if (int32_t status = check_extent(plan.operation->name_of(role), (*given)[role], needed[role], error))
      return status;
  }
  return GTH_OK;
}

int32_t check_data(const Plan& plan, RoleSet accessed, const Pointers& pointers, const Error& error) {
  const RoleSet missing = accessed & ~set_roles(pointers);
  return missing == 0 ? GTH_OK : fail_null_data(plan.operation->name_of(first_of(missing)), error);
}

// Checks that the operands that a run accesses have data, and that no written one shares memory with another one.
// `span_at` returns the memory of an operand.
template <class SpanAt>
GATHER_UNROLLED inline int32_t check_memory(const Plan& plan, RoleSet accessed, const Pointers& pointers,
                                            SpanAt span_at, const Error& error) {
  if (int32_t status = check_data(plan, accessed, pointers, error)) return status;
  const Operation& operation = *plan.operation;
  for (Role written : EachRole{accessed & operation.operands.written}) {
    const Span span = span_at(written);
    const char* const data = pointers[written];
    const int32_t status = for_each_role(accessed, [&](Role other) GATHER_UNROLLED {
      return other != written && overlap(data, span, pointers[other], span_at(other))
                 ? fail_alias(operation.name_of(written), operation.name_of(other), error)
                 : GTH_OK;
    });
    if (status) return status;
  }
  return GTH_OK;
}

RoleSet accessed_by_bags(const Plan& plan, int64_t n, int64_t open_ids) {
  const int64_t ids = plan.bags.ids_of(n, open_ids);
  const bool writes = plan.bags.count.at(n) > 0 && !plan.is_empty;
  RoleSet roles = 0;
  if (writes) roles |= set_of(Role::rows);
  if (writes && ids > 0) roles |= set_of(Role::table) | plan.operation->operands.of_codec;
  if (ids > 0) roles |= set_of(Role::indices) | set_of(Role::weights);
  if (plan.bags.numbers_of(n, open_ids) > 0) roles |= set_of(Role::bags);
  return roles & plan.nonempty & ~plan.in_files;
}

RoleSet accessed_by_tuples(const Plan& plan, int64_t n) {
  const Operands& operands = plan.operation->operands;
  RoleSet roles = operands.zeroed;
  if (plan.tuples.at(n) > 0 && reads_indices(plan)) roles |= operands.of_tuples;
  if (plan.tuples.at(n) > 0 && !plan.is_empty) roles |= operands.of_rows;
  return roles & plan.nonempty & ~plan.in_files;
}

}  // namespace

int32_t check_open_ids(const Plan& plan, int64_t ids, const Error& error) {
  const bool is_open = has_bags(plan) && plan.bags.ids_are_open;
  if (is_open ? ids < 0 : ids != GTH_OPEN && ids != 0) {
    const char* const message = is_open ? "plan: ids is %" PRId64 ", needed is the number of ids"
                                        : "plan: ids is %" PRId64 ", but the number of ids is not open";
    return error.fail({GTH_E_SHAPE, GTH_OPERAND_PLAN, -1, -1, ids, is_open ? 0 : GTH_OPEN}, message, ids);
  }
  if (!is_open || ids <= plan.bags.largest_ids) return GTH_OK;
  return error.fail({GTH_E_SIZE, GTH_OPERAND_PLAN, -1, -1, ids, plan.bags.largest_ids},
                    "plan: ids is %" PRId64 ", the largest is %" PRId64, ids, plan.bags.largest_ids);
}

int32_t check_open_extent(const Plan& plan, int64_t n, const Error& error) {
  if (plan.is_open ? n < 0 : n != GTH_OPEN) {
    const char* const message = !plan.is_open   ? "plan: n is %" PRId64 ", but no extent is open"
                                : n == GTH_OPEN ? "plan: n is missing (%" PRId64 "), needed is the open extent"
                                                : "plan: n is %" PRId64 ", needed is an extent";
    return error.fail({GTH_E_SHAPE, GTH_OPERAND_PLAN, -1, -1, n, plan.is_open ? 0 : GTH_OPEN}, message, n);
  }
  if (n > plan.largest_n) {
    return error.fail({GTH_E_SIZE, GTH_OPERAND_PLAN, -1, -1, n, plan.largest_n},
                      "plan: n is %" PRId64 ", the largest is %" PRId64, n, plan.largest_n);
  }
  return GTH_OK;
}

int64_t parts_of(const Plan& plan, int64_t n) {
  if (is_scatter(plan) || has_bags(plan) || plan.in_files || plan.is_empty || plan.refused_dim >= 0 ||
      plan.device != GTH_DEVICE_CPU)
    return 1;
  return std::max(int64_t{1}, plan.slices.at(n));
}

Span span_of(const Plan& plan, Role role, int64_t n, int64_t ids) {
  return plan.reach[role].at(has_bags(plan) ? plan.bags.extent_of(role, n, ids) : n);
}

RoleSet accessed_by(const Plan& plan, int64_t n, int64_t ids) {
  return has_bags(plan) ? accessed_by_bags(plan, n, ids) : accessed_by_tuples(plan, n);
}

Extents extents_of(const Plan& plan, int64_t n, int64_t ids) {
  Extents extents{};
  for (Role role : EachRole{accessed_by(plan, n, ids)}) extents[role] = span_of(plan, role, n, ids).high;
  return extents;
}

int32_t check_index_run(const Plan& plan, const Pointers& pointers, int64_t n, const Extents* given,
                        const Error& error) {
  const RoleSet indices = plan.operation->operands.index;
  if (int32_t status = check_sizes(plan, indices, n, pointers.ids, given, error)) return status;
  return check_data(plan, accessed_by(plan, n, pointers.ids) & indices, pointers, error);
}

// Calls of bags have a frame of their own.
GATHER_NOINLINE static int32_t check_bags_run(const Plan& plan, const Pointers& pointers, int64_t n,
                                              const Extents* given, const Error& error) {
  const RoleSet present = plan.operation->operands.present;
  if (int32_t status = check_sizes(plan, present, n, pointers.ids, given, error)) return status;
  const auto span_at = [&](Role role) { return span_of(plan, role, n, pointers.ids); };
  return check_memory(plan, accessed_by_bags(plan, n, pointers.ids), pointers, span_at, error);
}

__attribute__((flatten)) int32_t check_run(const Plan& plan, const Pointers& pointers, int64_t n, const Extents* given,
                                           const Error& error) {
  if (has_bags(plan)) return check_bags_run(plan, pointers, n, given, error);
  const RoleSet present = plan.operation->operands.present;
  if (int32_t status = check_sizes(plan, present, n, pointers.ids, given, error)) return status;
  const auto span_at = [&](Role role) GATHER_UNROLLED { return plan.reach[role].at(n); };
  return check_memory(plan, accessed_by_tuples(plan, n), pointers, span_at, error);
}

}  // namespace gather::core
