#include <algorithm>
#include <cstring>
#include <numeric>

#include "api/execute.hpp"
#include "api/operands.hpp"
#include "columns/check.hpp"
#include "columns/schema.hpp"
#include "columns/take.hpp"
#include "core/base/checked.hpp"
#include "core/plan/lower.hpp"
#include "core/plan/pointers.hpp"
#include "cpu/resolve_rows.hpp"

// Columns in the format of the Arrow C data interface, and the rows that are taken from them.
namespace gather::api {
namespace {

using columns::Column;
using columns::Trouble;
using core::Plan;

// ------------------------------------------------------------------------------------------------------------ Errors

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

// Finds a context on the CPU.
int32_t find_cpu_context(gth_context* handle, const Context** out, const Error& error) {
  const int32_t status = find_context(handle, out, error);
  return status ? status : check_cpu(**out, "columns are in CPU memory", error);
}

// ----------------------------------------------------------------------------------------------------------- Indices

// A take whose structs have been read.
struct Taking {
  gth_take take;
  const gth_tensor_desc* indices;
  gth_tensor_desc indices_room;
  gth_options options;

  bool has_flag(uint32_t flag) const { return take.flags & flag; }
  bool may_select_null() const { return take.validity || has_flag(GTH_TAKE_NULL) || options.has_padding_index; }
  const char* data() const { return static_cast<const char*>(indices->data); }
  cpu::IndexValidity validity() const { return {static_cast<const uint8_t*>(take.validity), take.validity_offset}; }
};

int32_t check_take_flags(const gth_take& take, uint32_t known, const Error& error) {
  if (take.flags & ~known) {
    return error.fail({GTH_E_VERSION, GTH_OPERAND_NONE, -1, -1, take.flags, known}, "take: flags 0x%x, valid are 0x%x",
                      take.flags, known);
  }
  if (take.validity_offset >= 0 && take.validity_offset <= INT64_MAX / 2) return GTH_OK;
  return error.fail({GTH_E_SIZE, GTH_OPERAND_INDICES, -1, -1, take.validity_offset, INT64_MAX / 2},
                    "indices: validity_offset is %lld", static_cast<long long>(take.validity_offset));
}

// Reads the options that a take has. Others are ignored.
int32_t read_options(const gth_options* given, Taking* out, const Error& error) {
  gth_options room;
  out->options = GTH_OPTIONS_INIT;
  if (given) {
    int32_t status = core::read_struct(given, &room, &given, GTH_OPERAND_OPTIONS, error);
    if (!status) status = core::check_options(*given, core::operation_of(GTH_OP_GATHER), error);
    if (status) return status;
    out->options.profile = given->profile;
    out->options.negative = given->negative;
    out->options.bounds = given->bounds;
    out->options.opset = given->opset;
    out->options.threads = given->threads;
    out->options.has_padding_index = given->has_padding_index;
    out->options.padding_index = given->padding_index;
  }
  if (!out->has_flag(GTH_TAKE_NULL)) return GTH_OK;
  if (out->options.bounds) {
    return error.fail({GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, bounds), -1, out->options.bounds, 0},
                      "options: bounds is set, but GTH_TAKE_NULL replaces it");
  }
  out->options.bounds = GTH_BOUNDS_SKIP;
  return GTH_OK;
}

int32_t read_take(const gth_take* given, uint32_t known_flags, Taking* out, const Error& error) {
  gth_take room;
  if (!given) return error.fail({GTH_E_NULL}, "take is NULL");
  if (int32_t status = core::read_struct(given, &room, &given, GTH_OPERAND_NONE, error)) return status;
  std::memcpy(&out->take, given, sizeof out->take);
  if (!out->take.indices) return fail_null(GTH_OPERAND_INDICES, error);
  int32_t status = check_take_flags(out->take, known_flags, error);
  if (!status) status = read_options(out->take.options, out, error);
  if (status) return status;
  return read_operand(out->take.indices, GTH_OPERAND_INDICES, &out->indices_room, &out->indices, error);
}

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
int32_t lower_indices(const Context& context, int64_t extent, Taking* taking, Plan* plan, const Error& error) {
  if (int32_t status = resolve_tensor(GTH_OPERAND_INDICES, &taking->indices, error)) return status;
  const gth_tensor_desc table = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &extent, nullptr);
  const int32_t status = lower(context, *taking, table, plan, error);
  return status ? status
                : core::check_index_run(*plan, pointers_of(nullptr, taking->data(), nullptr), GTH_OPEN, nullptr, error);
}

// Rejects a fill value, which a column does not have.
int32_t check_bounds(const Taking& taking, const Plan& plan, const Error& error) {
  const bool selects_none = plan.bounds == GTH_BOUNDS_FILL || plan.bounds == GTH_BOUNDS_SKIP;
  if (!selects_none || taking.has_flag(GTH_TAKE_NULL)) return GTH_OK;
  return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_OPTIONS, offsetof(gth_options, bounds), -1, plan.bounds, 0},
                    "options: bounds is fill or skip, which columns do not support: use GTH_TAKE_NULL");
}

// --------------------------------------------------------------------------------------------------------------- Take

// The results of a take.
struct Outputs {
  ArrowSchema* schema;  // may be nullptr
  ArrowArray* array;
};

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

int32_t take(const Context& context, Taking* taking, const Column& column, const Outputs& outputs, const Error& error) {
  if (int32_t status = check_record(column, *taking, error)) return status;
  Plan plan;
  if (int32_t status = lower_indices(context, column.length(), taking, &plan, error)) return status;
  if (int32_t status = check_bounds(*taking, plan, error)) return status;
  if (costs_more_than_join(column, plan.tuples.at(GTH_OPEN))) {
    if (Column* const joined = join(executor_for(context, plan.threads), column)) {
      const int32_t status = take_planned(context, *taking, plan, *joined, outputs, error);
      joined->release();
      return status;
    }
  }
  return take_planned(context, *taking, plan, column, outputs, error);
}

int32_t resolve(gth_context* handle, int64_t extent, const gth_take* given, int64_t capacity, int64_t* rows,
                const Error& error) {
  Taking taking;
  const Context* context = nullptr;
  Plan plan;
  if (int32_t status = read_take(given, GTH_TAKE_NULL, &taking, error)) return status;
  if (int32_t status = find_cpu_context(handle, &context, error)) return status;
  if (int32_t status = lower_indices(*context, extent, &taking, &plan, error)) return status;
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
                           executor_for(*context, plan.threads), error);
}

// ------------------------------------------------------------------------------------------------------------ Handles

int32_t make_column(const Column* column, gth_column** out, const Error& error) {
  uintptr_t token;
  Content* const content = acquire_slot(Kind::column, &token);
  if (!content) return fail_memory(sizeof(Content), error);
  content->as<void*>() = const_cast<Column*>(column);
  publish_slot(token);
  *out = handle_of<gth_column>(token);
  return GTH_OK;
}

int32_t find_column(const gth_column* handle, const Column** out, const Error& error) {
  if (!handle) return fail_null(GTH_OPERAND_PARAMS, error);
  const Content* const content = find_slot(token_of(handle), Kind::column);
  if (!content) return fail_handle(GTH_OPERAND_PARAMS, error);
  *out = static_cast<const Column*>(content->as<void*>());
  return GTH_OK;
}

// The arrays of a caller.
struct Chunks {
  const ArrowSchema* schema;
  int64_t count;
  ArrowArray* const* arrays;
};

int32_t check_chunks(const Chunks& chunks, const Error& error) {
  if (!chunks.schema) return error.fail({GTH_E_NULL, GTH_OPERAND_PARAMS}, "params: the schema is NULL");
  if (chunks.count < 0) {
    return error.fail({GTH_E_SHAPE, GTH_OPERAND_PARAMS, -1, -1, chunks.count, 0},
                      "params: the number of chunks is %lld", static_cast<long long>(chunks.count));
  }
  bool has_all = !chunks.count || chunks.arrays;
  for (int64_t i = 0; i < chunks.count && has_all; ++i) has_all = chunks.arrays[i];
  return has_all ? GTH_OK : error.fail({GTH_E_NULL, GTH_OPERAND_PARAMS}, "params: a chunk is NULL");
}

// Creates a column that does not own the arrays yet.
int32_t create_column(const Chunks& chunks, Column** out, const Error& error) {
  Trouble trouble;
  const int32_t status = Column::create(*chunks.schema, chunks.count, chunks.arrays, out, &trouble);
  return status ? report(trouble, error) : GTH_OK;
}

// Creates the handle of a column that must outlive its schema. Takes ownership of the column.
int32_t keep_column(Column* column, gth_column** out, const Error& error) {
  Trouble trouble;
  ArrowSchema copy;
  int32_t status = columns::copy_schema(column->schema(), nullptr, &copy, &trouble);
  if (status) {
    status = report(trouble, error);
  } else {
    column->keep_schema(copy);
    status = make_column(column, out, error);
  }
  if (status) column->release();
  return status;
}

int32_t from_arrow(gth_context* handle, const Chunks& chunks, gth_column** out, const Error& error) {
  const Context* context = nullptr;
  Column* column = nullptr;
  if (int32_t status = check_chunks(chunks, error)) return status;
  if (int32_t status = find_cpu_context(handle, &context, error)) return status;
  if (int32_t status = create_column(chunks, &column, error)) return status;
  if (int32_t status = keep_column(column, out, error)) return status;
  column->adopt(chunks.arrays);
  return GTH_OK;
}

int32_t take_once(gth_context* handle, const Chunks& chunks, const gth_take* given, const Outputs& outputs,
                  const Error& error) {
  Taking taking;
  const Context* context = nullptr;
  Column* column = nullptr;
  if (!outputs.array) return error.fail({GTH_E_NULL, GTH_OPERAND_OUT}, "out: array is NULL");
  if (int32_t status = check_chunks(chunks, error)) return status;
  if (int32_t status = read_take(given, GTH_TAKE_NULL | GTH_TAKE_RECORD, &taking, error)) return status;
  if (int32_t status = find_cpu_context(handle, &context, error)) return status;
  if (int32_t status = create_column(chunks, &column, error)) return status;
  const int32_t status = take(*context, &taking, *column, outputs, error);
  if (!status) column->adopt(chunks.arrays);
  column->release();
  return status;
}

int32_t take_from_handle(gth_context* handle, const gth_column* column_handle, const gth_take* given,
                         const Outputs& outputs, const Error& error) {
  Taking taking;
  const Context* context = nullptr;
  const Column* column = nullptr;
  if (!column_handle) return fail_null(GTH_OPERAND_PARAMS, error);
  if (!outputs.array) return error.fail({GTH_E_NULL, GTH_OPERAND_OUT}, "out: array is NULL");
  if (int32_t status = read_take(given, GTH_TAKE_NULL | GTH_TAKE_RECORD, &taking, error)) return status;
  if (int32_t status = find_cpu_context(handle, &context, error)) return status;
  if (int32_t status = find_column(column_handle, &column, error)) return status;
  return take(*context, &taking, *column, outputs, error);
}

// ------------------------------------------------------------------------------------------------------------ Streams

// The arrays of a stream.
class Received {
 public:
  Received() = default;
  Received(const Received&) = delete;
  Received& operator=(const Received&) = delete;
  ~Received() {
    for (int64_t i = 0; i < count_; ++i) arrays_[i].release(arrays_ + i);
    core::deallocate(arrays_);
    if (schema_.release) schema_.release(&schema_);
  }

  int32_t read(ArrowArrayStream* stream, const Error& error) {
    if (int code = stream->get_schema(stream, &schema_)) return fail_stream(stream, code, error);
    for (;;) {
      if (count_ == capacity_ && !grow()) return fail_memory(2 * capacity_ * int64_t{sizeof(ArrowArray)}, error);
      ArrowArray* const next = arrays_ + count_;
      *next = {};
      if (int code = stream->get_next(stream, next)) return fail_stream(stream, code, error);
      if (!next->release) return GTH_OK;
      ++count_;
    }
  }

  // Moves the arrays to a new column.
  int32_t make_column(Column** out, const Error& error) {
    Trouble trouble;
    ArrowArray* const arrays = arrays_;
    const int64_t count = count_;
    arrays_ = nullptr;
    count_ = 0;
    return Column::create_from(schema_, count, arrays, out, &trouble) ? report(trouble, error) : GTH_OK;
  }

 private:
  static int32_t fail_stream(ArrowArrayStream* stream, int code, const Error& error) {
    const char* const text = stream->get_last_error ? stream->get_last_error(stream) : nullptr;
    const int32_t status = error.fail({GTH_E_ARROW, GTH_OPERAND_PARAMS, -1, -1, code, 0},
                                      "params: the stream failed with error %d: %s", code, text ? text : "no message");
    if (error.target()) error.target()->native = code;
    return status;
  }

  bool grow() {
    const int64_t capacity = capacity_ ? 2 * capacity_ : 8;
    auto* const arrays = static_cast<ArrowArray*>(core::allocate(static_cast<size_t>(capacity) * sizeof(ArrowArray)));
    if (!arrays) return false;
    std::copy_n(arrays_, count_, arrays);
    core::deallocate(arrays_);
    arrays_ = arrays;
    capacity_ = capacity;
    return true;
  }

  ArrowSchema schema_{};
  ArrowArray* arrays_ = nullptr;
  int64_t count_ = 0, capacity_ = 0;
};

int32_t from_stream(gth_context* handle, ArrowArrayStream* stream, gth_column** out, const Error& error) {
  const Context* context = nullptr;
  Column* column = nullptr;
  if (!stream) return error.fail({GTH_E_NULL, GTH_OPERAND_PARAMS}, "params: the stream is NULL");
  if (int32_t status = find_cpu_context(handle, &context, error)) return status;
  if (!stream->release) {
    return error.fail({GTH_E_ARROW, GTH_OPERAND_PARAMS}, "params: the stream has been released");
  }
  Received received;
  if (int32_t status = received.read(stream, error)) return status;
  if (int32_t status = received.make_column(&column, error)) return status;
  if (int32_t status = keep_column(column, out, error)) return status;
  stream->release(stream);
  return GTH_OK;
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;

int32_t gth_column_from_arrow(gth_context* context, const ArrowSchema* schema, int64_t count, ArrowArray* const* chunks,
                              gth_column** out, gth_error* err) {
  return api_boundary(out, err,
                      [&](const Error& error) { return from_arrow(context, {schema, count, chunks}, out, error); });
}

int32_t gth_column_from_arrow_stream(gth_context* context, ArrowArrayStream* stream, gth_column** out, gth_error* err) {
  return api_boundary(out, err, [&](const Error& error) { return from_stream(context, stream, out, error); });
}

int32_t gth_column_release(gth_column* column) {
  if (!column) return GTH_OK;
  const gather::columns::Column* released = nullptr;
  const bool found = release_slot(token_of(column), Kind::column, [&](const Content& content) {
    released = static_cast<const gather::columns::Column*>(content.as<void*>());
  });
  if (!found) return GTH_E_HANDLE;
  released->release();
  return GTH_OK;
}

int32_t gth_column_take(gth_context* context, const gth_column* column, const gth_take* take, ArrowSchema* schema,
                        ArrowArray* array, gth_error* err) {
  return api_boundary(
      err, [&](const Error& error) { return take_from_handle(context, column, take, {schema, array}, error); });
}

int32_t gth_arrow_take(gth_context* context, const ArrowSchema* type, int64_t count, ArrowArray* const* chunks,
                       const gth_take* take, ArrowSchema* schema, ArrowArray* array, gth_error* err) {
  return api_boundary(
      err, [&](const Error& error) { return take_once(context, {type, count, chunks}, take, {schema, array}, error); });
}

int32_t gth_resolve(gth_context* context, int64_t extent, const gth_take* take, int64_t capacity, int64_t* rows,
                    gth_error* err) {
  return api_boundary(err, [&](const Error& error) { return resolve(context, extent, take, capacity, rows, error); });
}
