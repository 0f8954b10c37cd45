#include "core/plan/operands.hpp"

#include <cinttypes>

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

bool reads_tuples(const Plan& plan, int64_t n) {
  return plan.components > 0 && plan.tuples.at(n) > 0 && reads_indices(plan);
}

int32_t check_extents(const Plan& plan, int64_t n, const Extents& given, const Error& error) {
  const Extents needed = extents_of(plan, n);
  const Roles roles = roles_of(plan.direction);
  if (int32_t status = check_extent(roles.table, given.table, needed.table, error)) return status;
  if (int32_t status = check_extent(GTH_OPERAND_INDICES, given.indices, needed.indices, error)) return status;
  return check_extent(roles.rows, given.rows, needed.rows, error);
}

int32_t check_indices(const Plan& plan, const char* indices, int64_t n, const Error& error) {
  return reads_tuples(plan, n) && !indices ? fail_null_data(GTH_OPERAND_INDICES, error) : GTH_OK;
}

// Checks that the written operand shares no memory with the others.
int32_t check_overlap(const Plan& plan, const Pointers& pointers, int64_t n, const Error& error) {
  struct Operand {
    int32_t role;
    const void* data;
    Span span;
    bool empty;
  };
  const Roles roles = roles_of(plan.direction);
  const Operand indexed{roles.table, pointers.table, plan.table_reach.at(n), plan.table_reach.empty};
  const Operand linear{roles.rows, pointers.rows, plan.rows_reach.at(n), false};
  const Operand &written = is_scatter(plan) ? indexed : linear, &read = is_scatter(plan) ? linear : indexed;
  if (indexed.empty && is_scatter(plan)) return GTH_OK;
  if (!indexed.empty && overlap(written.data, written.span, read.data, read.span)) {
    return fail_alias(written.role, read.role, error);
  }
  if (plan.components > 0 && overlap(written.data, written.span, pointers.indices, plan.indices_reach.at(n))) {
    return fail_alias(written.role, GTH_OPERAND_INDICES, error);
  }
  return GTH_OK;
}

}  // namespace

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

Extents extents_of(const Plan& plan, int64_t n) {
  const bool reads = reads_tuples(plan, n), copies = plan.tuples.at(n) > 0 && !plan.is_empty;
  return {copies && !plan.table_reach.empty ? plan.table_reach.at(n).high : 0,
          reads ? plan.indices_reach.at(n).high : 0, copies ? plan.rows_reach.at(n).high : 0};
}

int32_t check_index_run(const Plan& plan, const char* indices, int64_t n, const int64_t* given, const Error& error) {
  if (int32_t status = check_open_extent(plan, n, error)) return status;
  if (given) {
    const int64_t needed = extents_of(plan, n).indices;
    if (int32_t status = check_extent(GTH_OPERAND_INDICES, *given, needed, error)) return status;
  }
  return check_indices(plan, indices, n, error);
}

int32_t check_run(const Plan& plan, const Pointers& pointers, int64_t n, const Extents* given, const Error& error) {
  if (int32_t status = check_open_extent(plan, n, error)) return status;
  if (given) {
    if (int32_t status = check_extents(plan, n, *given, error)) return status;
  }
  if (int32_t status = check_indices(plan, pointers.indices, n, error)) return status;
  if (plan.tuples.at(n) == 0 || plan.is_empty) return GTH_OK;
  const Roles roles = roles_of(plan.direction);
  if (!pointers.table && !plan.table_reach.empty) return fail_null_data(roles.table, error);
  if (!pointers.rows) return fail_null_data(roles.rows, error);
  return check_overlap(plan, pointers, n, error);
}

}  // namespace gather::core
