#include "execution/column_take.hpp"

#include <algorithm>
#include <numeric>

#include "columns/check.hpp"
#include "columns/schema.hpp"
#include "columns/take.hpp"
#include "core/base/checked.hpp"
#include "core/plan/lower.hpp"
#include "core/plan/pointers.hpp"
#include "execution/execute.hpp"

namespace gather::execution {
namespace {

using columns::Column;
using columns::Trouble;
using core::Plan;

// Validates a gather from `table`. Its rows are those of the column.
int32_t lower(const Context& context, const Taking& taking, const gth_tensor_desc& table, Plan* plan,
              const Error& error) {
  const auto operands = core::by_role<const gth_tensor_desc*>(&table, taking.indices, nullptr);
  return core::lower({operands, &core::operation_of(GTH_OP_GATHER), core::Open::none, core::two_roles, &taking.options,
                      context.device, context.device_id, true},
                     plan, error);
}

// Validates everything about the indices except their values. The plan gathers from a table without memory, whose
// elements have 8 bytes.
int32_t lower_indices(const Context& context, int64_t extent, const Taking& taking, Plan* plan, const Error& error) {
  const gth_tensor_desc table = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &extent, nullptr);
  const int32_t status = lower(context, taking, table, plan, error);
  return status ? status
                : core::check_index_run(*plan, pointers_of(nullptr, taking.data(), nullptr), GTH_OPEN, nullptr, error);
}

// Rejects a fill value, which a column does not have.
int32_t check_bounds(const Taking& taking, const Plan& plan, const Error& error) {
  const bool selects_none = plan.bounds == GTH_BOUNDS_FILL || plan.bounds == GTH_BOUNDS_SKIP;
  if (!selects_none || taking.has_flag(GTH_TAKE_NULL)) return GTH_OK;
  return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_OPTIONS, offsetof(gth_options, bounds), -1, plan.bounds, 0},
                    "options: bounds is fill or skip, which columns do not support: use GTH_TAKE_NULL");
}

// Writes the outputs. Takes ownership of `array`.
int32_t finish(const Column& column, bool is_record, ArrowArray* array, const Outputs& outputs, const Error& error) {
  if (outputs.schema) {
    Trouble trouble;
    ArrowSchema schema;
    if (columns::copy_schema(column.schema(), array, &schema, &trouble)) {
      array->release(array);
      return report(trouble, error);
    }
    columns::allow_nulls(*array, &schema);
    for (int64_t i = 0; i < schema.n_children && is_record; ++i) {
      columns::allow_nulls(*array->children[i], schema.children[i]);
    }
    *outputs.schema = schema;
  }
  *outputs.array = *array;
  return GTH_OK;
}

// Returns true if the rows, or their codes, are those of a dense tensor without nulls.
bool is_dense(const Column& column, const Taking& taking) {
  const columns::Type& type = column.type();
  const bool has_width = type.kind == columns::Kind::fixed || type.kind == columns::Kind::dictionary;
  if (!has_width || !type.width || column.parts().count != 1) return false;
  return !taking.may_select_null() && !columns::validity_of(type, *column.parts()[0].array);
}

int32_t dtype_of(int64_t width) {
  switch (width) {
    case 2: return GTH_DTYPE_UINT16;
    case 4: return GTH_DTYPE_UINT32;
    case 8: return GTH_DTYPE_UINT64;
    case 16: return GTH_DTYPE_COMPLEX128;
    default: return GTH_DTYPE_UINT8;
  }
}

// Gathers the rows of a dense column into the buffer of a node. The kernels validate and copy in one pass.
int32_t gather_dense(const Context& context, const Taking& taking, const Column& column, int64_t count,
                     columns::Node* node, const Error& error) {
  const int64_t width = column.type().width;
  const int32_t dtype = dtype_of(width);
  const bool has_words = gth_dtype_size(dtype) == width;
  const int64_t shape[] = {column.length(), width};
  const columns::Part& part = column.parts()[0];
  const gth_tensor_desc table = GTH_TENSOR_DESC_DENSE(dtype, has_words ? 1 : 2, shape,
                                                      columns::moved(part.array->buffers[1], part.shift * width));
  Plan plan;
  if (int32_t status = lower(context, taking, table, &plan, error)) return status;
  void* const to = node->allocate(1, count * width);
  if (!to) return fail_memory(count * width, error);
  return execute_once(context, plan, pointers_of(table.data, taking.indices->data, to), Output::ours, error);
}

int32_t take_dense(const Context& context, const Taking& taking, const Column& column, int64_t count,
                   const Outputs& outputs, const Error& error) {
  ArrowArray array;
  columns::Node* const node = columns::Node::create(count, columns::buffers_of(column.type()), &array);
  if (!node) return fail_memory(sizeof *node, error);
  int32_t status = gather_dense(context, taking, column, count, node, error);
  if (!status && column.type().kind == columns::Kind::dictionary) {
    const cpu::Executor executor = executor_for(context, taking.options.threads);
    columns::Call call{column, executor, false, {}};
    const columns::Places places{count, nullptr, nullptr, false};
    if (columns::add_dictionary(&call, {column.type(), column.parts(), places, node})) {
      status = report(call.trouble, error);
    }
  }
  node->publish(&array);
  if (!status) return finish(column, false, &array, outputs, error);
  array.release(&array);
  return status;
}

// Takes rows whose numbers have been resolved.
int32_t take_rows(const cpu::Executor& executor, const Taking& taking, const Column& column, int64_t count,
                  int64_t* rows, const Outputs& outputs, const Error& error) {
  const bool has_nulls =
      taking.may_select_null() && std::any_of(rows, rows + count, [](int64_t row) { return row < 0; });
  columns::Located located;
  columns::Call call{column, executor, outputs.schema != nullptr, {}};
  const bool is_record = taking.has_flag(GTH_TAKE_RECORD);
  int32_t status = located.locate(column, count, rows, has_nulls, &call.trouble);
  ArrowArray array;
  if (!status && is_record) {
    status = columns::take_record(&call, located.parts(), located.places(), &array);
  } else if (!status) {
    status = columns::take(&call, column.type(), located.parts(), located.places(), &array);
  }
  return status ? report(call.trouble, error) : finish(column, is_record, &array, outputs, error);
}

int32_t check_record(const Column& column, const Taking& taking, const Error& error) {
  if (!taking.has_flag(GTH_TAKE_RECORD) || column.type().kind == columns::Kind::structure) return GTH_OK;
  return error.fail({GTH_E_DTYPE, GTH_OPERAND_PARAMS}, "params: only a column of structs is a table");
}

// Returns true if a take costs more than a join of the chunks before it. Rows of one chunk are taken faster.
bool costs_more_than_join(const Column& column, int64_t count) {
  constexpr int64_t rows_of_join = 4;  // the number of rows that are taken for each row that is joined
  return column.parts().count > 1 && count / rows_of_join > column.length();
}

// Makes one chunk of all chunks of a column. Returns nullptr if that fails, for example because a row is invalid that the
// take does not select.
Column* join(const cpu::Executor& executor, const Column& column) {
  const int64_t count = column.length();
  columns::Room<int64_t, 64> rows;
  columns::Located located;
  columns::Call call{column, executor, false, {}};
  if (!rows.allocate(count)) return nullptr;
  std::iota(rows.data(), rows.data() + count, int64_t{0});
  if (located.locate(column, count, rows.data(), false, &call.trouble)) return nullptr;
  auto* const chunk = static_cast<ArrowArray*>(core::allocate(sizeof(ArrowArray)));
  if (!chunk) return nullptr;
  if (columns::take(&call, column.type(), located.parts(), located.places(), chunk)) {
    core::deallocate(chunk);
    return nullptr;
  }
  Column* joined = nullptr;
  Trouble trouble;
  return Column::create_from(column.schema(), 1, chunk, &joined, &trouble) ? nullptr : joined;
}

// Takes rows of a column whose plan has been validated.
int32_t take_planned(const Context& context, const Taking& taking, const Plan& plan, const Column& column,
                     const Outputs& outputs, const Error& error) {
  const int64_t count = plan.tuples.at(GTH_OPEN);
  if (is_dense(column, taking)) return take_dense(context, taking, column, count, outputs, error);
  const cpu::Executor executor = executor_for(context, plan.threads);
  columns::Room<int64_t, 64> rows;
  if (!rows.allocate(count)) return fail_memory(count * int64_t{sizeof(int64_t)}, error);
  const int32_t status =
      cpu::resolve_rows(plan, taking.data(), taking.validity(), Output::ours, rows.data(), executor, error);
  return status ? status : take_rows(executor, taking, column, count, rows.data(), outputs, error);
}

}  // namespace

int32_t report(const Trouble& trouble, const Error& error) {
  if (trouble.status == GTH_E_NOMEM) return fail_memory(trouble.value, error);
  const core::Fault fault{trouble.status, GTH_OPERAND_PARAMS, -1,           trouble.position,
                          trouble.value,  trouble.limit,      trouble.flags};
  const auto value = static_cast<long long>(trouble.value), limit = static_cast<long long>(trouble.limit);
  if (trouble.format && trouble.name) {
    return error.fail(fault, "params: the type '%.64s' of '%.64s' is not supported", trouble.format, trouble.name);
  }
  if (trouble.format) return error.fail(fault, "params: the type '%.64s' is not supported", trouble.format);
  if (trouble.position < 0) return error.fail(fault, "params: %s: %lld, limit %lld", trouble.what, value, limit);
  const char* const form = trouble.flags & GTH_ERROR_UNSIGNED
                               ? "params: %s: %llu, limit %lld, in the row of position %lld"
                               : "params: %s: %lld, limit %lld, in the row of position %lld";
  return error.fail(fault, form, trouble.what, value, limit, static_cast<long long>(trouble.position));
}

int32_t take(const Context& context, const Taking& taking, const Column& column, const Outputs& outputs,
             const Error& error) {
  if (int32_t status = check_record(column, taking, error)) return status;
  Plan plan;
  if (int32_t status = lower_indices(context, column.length(), taking, &plan, error)) return status;
  if (int32_t status = check_bounds(taking, plan, error)) return status;
  if (costs_more_than_join(column, plan.tuples.at(GTH_OPEN))) {
    if (Column* const joined = join(executor_for(context, plan.threads), column)) {
      const int32_t status = take_planned(context, taking, plan, *joined, outputs, error);
      joined->release();
      return status;
    }
  }
  return take_planned(context, taking, plan, column, outputs, error);
}

int32_t resolve(const Context& context, const Taking& taking, int64_t extent, int64_t capacity, int64_t* rows,
                const Error& error) {
  Plan plan;
  if (int32_t status = lower_indices(context, extent, taking, &plan, error)) return status;
  const int64_t count = plan.tuples.at(GTH_OPEN);
  if (capacity < count) {
    return error.fail({GTH_E_SIZE, GTH_OPERAND_OUT, -1, -1, capacity, count},
                      "out: capacity is %lld rows, needed are %lld", static_cast<long long>(capacity),
                      static_cast<long long>(count));
  }
  if (reinterpret_cast<uintptr_t>(rows) % alignof(int64_t)) {
    return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_OUT}, "out: rows are not aligned to 8 bytes");
  }
  plan.nonempty &= ~core::set_of(core::Role::table);  // The table has no memory.
  const core::Pointers pointers = pointers_of(nullptr, taking.indices->data, rows);
  if (int32_t status = core::check_run(plan, pointers, GTH_OPEN, nullptr, error)) return status;
  return cpu::resolve_rows(plan, taking.data(), taking.validity(), Output::callers, rows,
                           executor_for(context, plan.threads), error);
}

}  // namespace gather::execution
