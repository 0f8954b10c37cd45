#include "core/meaning/dtypes.hpp"

#include <cinttypes>
#include <cstddef>

#include "core/types/reduction.hpp"

namespace gather::core {
namespace {

int32_t fail_dtype(int32_t operand, int32_t value, int32_t wanted, const Error& error) {
  if (wanted) {
    return error.fail({GTH_E_DTYPE, operand, -1, -1, value, wanted}, "%s: dtype is %s, needed is %s",
                      operand_name(operand), dtype_name(value), dtype_name(wanted));
  }
  const Fault fault{GTH_E_DTYPE, operand, -1, -1, value, 0};
  const DtypeInfo* info = find_dtype(value);
  if (!info) return error.fail(fault, "%s: %" PRId32 " is no dtype", operand_name(operand), value);
  const char* why = operand == GTH_OPERAND_INDICES && !info->is_index ? "is no integer type" : "is not allowed here";
  return error.fail(fault, "%s: dtype %s %s", operand_name(operand), info->name, why);
}

int32_t check_reduced_dtype(const Settings& settings, const DtypeInfo& dtype, const Error& error) {
  if (is_reducible(dtype.number, settings.reduction)) return GTH_OK;
  return error.fail({GTH_E_DTYPE, GTH_OPERAND_TARGET, -1, -1, dtype.dtype, 0}, "target: dtype %s has no reduction %s",
                    dtype.name, reduction_name(settings.reduction));
}

int32_t resolve_data_dtype(const Settings& settings, int32_t dtype, const DtypeInfo** info, const Error& error) {
  *info = find_dtype(dtype);
  const bool lacks_bfloat16 = settings.definition && !settings.definition->has_bfloat16;
  const bool allowed =
      *info && allows_table(*settings.rules, dtype) && !(lacks_bfloat16 && dtype == GTH_DTYPE_BFLOAT16);
  if (!allowed) return fail_dtype(settings.operation->name_of(Role::table), dtype, 0, error);
  return check_reduced_dtype(settings, **info, error);
}

inline int32_t resolve_index_dtype(const Settings& settings, int32_t operand, int32_t dtype, const DtypeInfo** info,
                                   const Error& error) {
  *info = find_dtype(dtype);
  if (*info && (*info)->is_index && allows_indices(*settings.rules, dtype)) return GTH_OK;
  return fail_dtype(operand, dtype, 0, error);
}

// Rejects a fill value for strings, and one of another dtype. A string that is not gathered is always empty.
int32_t check_fill_dtype(const Settings& settings, int32_t dtype, const Error& error) {
  const bool selects_none = settings.bounds == GTH_BOUNDS_FILL || settings.has_padding;
  const bool fills = selects_none && settings.fill != GTH_FILL_ZERO;
  const int32_t table = settings.operation->name_of(Role::table), given = settings.fill_dtype;
  if (dtype == GTH_DTYPE_STRING) return fills ? fail_dtype(table, dtype, 0, error) : GTH_OK;
  if (settings.fill != GTH_FILL_VALUE || given == 0 || given == dtype || dtype == 0) return GTH_OK;
  return error.fail({GTH_E_DTYPE, GTH_OPERAND_OPTIONS, offsetof(gth_options, fill_dtype), -1, given, dtype},
                    "options: the fill value is %s, the dtype of %s is %s", dtype_name(given), operand_name(table),
                    dtype_name(dtype));
}

}  // namespace

int32_t resolve_dtypes(const Settings& settings, const ByRole<const gth_tensor_desc*>& operands, RoleSet roles,
                       bool may_be_unknown, Dtypes* result, const Error& error) {
  const Operands& entries = settings.operation->operands;
  const int32_t table = operands.table->dtype;
  const auto is_unknown = [&](int32_t dtype) { return dtype == 0 && may_be_unknown; };
  if (!is_unknown(table)) {
    if (int32_t status = resolve_data_dtype(settings, table, &result->table, error)) return status;
  }
  for (Role role : EachRole{entries.index & roles}) {
    const int32_t dtype = operands[role]->dtype;
    if (is_unknown(dtype)) continue;
    const int32_t status = resolve_index_dtype(settings, entries[role].name, dtype, &(*result)[role], error);
    if (status) return status;
  }
  for (Role role : EachRole{entries.as_table}) {
    (*result)[role] = result->table;
    const int32_t dtype = roles & set_of(role) ? operands[role]->dtype : table;
    if (dtype == table || is_unknown(dtype) || is_unknown(table)) continue;
    return fail_dtype(entries[role].name, dtype, table, error);
  }
  return check_fill_dtype(settings, table, error);
}

}  // namespace gather::core
