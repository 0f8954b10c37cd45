#include <algorithm>
#include <cstring>

#include "api/operands.hpp"
#include "columns/schema.hpp"
#include "execution/column_take.hpp"

// Columns in the format of the Arrow C data interface, and the rows that are taken from them.
namespace gather::api {
namespace {

using columns::Column;
using columns::Trouble;

// Finds a context on the CPU.
int32_t find_cpu_context(gth_context* handle, const Context** out, const Error& error) {
  const int32_t status = find_context(handle, out, error);
  return status ? status : check_cpu(**out, "columns are in CPU memory", error);
}

// ----------------------------------------------------------------------------------------------------------- Indices

int32_t check_take_flags(const gth_take& take, uint32_t known, const Error& error) {
  if (take.flags & ~known) {
    return error.fail({GTH_E_VERSION, GTH_OPERAND_NONE, -1, -1, take.flags, known}, "take: flags 0x%x, valid are 0x%x",
                      take.flags, known);
  }
  if (take.validity_offset >= 0 && take.validity_offset <= INT64_MAX / 2) return GTH_OK;
  return error.fail({GTH_E_SIZE, GTH_OPERAND_INDICES, -1, -1, take.validity_offset, INT64_MAX / 2},
                    "indices: validity_offset is %lld", static_cast<long long>(take.validity_offset));
}

// Reads the options that a take has. A column has one dim, so the axis is 0 or -1, and there are no batch dims. Others are
// ignored.
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
    out->options.has_axis = given->has_axis;
    out->options.axis = given->axis;
    out->options.batch_dims = given->batch_dims;
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

// Looks up the indices, and takes rows of a column.
int32_t take_rows_of(const Context& context, Taking* taking, const Column& column, const Outputs& outputs,
                     const Error& error) {
  const int32_t status = resolve_tensor(GTH_OPERAND_INDICES, &taking->indices, error);
  return status ? status : take(context, *taking, column, outputs, error);
}

int32_t resolve_handles(gth_context* handle, int64_t extent, const gth_take* given, int64_t capacity, int64_t* rows,
                        const Error& error) {
  Taking taking;
  const Context* context = nullptr;
  if (int32_t status = read_take(given, GTH_TAKE_NULL, &taking, error)) return status;
  if (int32_t status = find_cpu_context(handle, &context, error)) return status;
  const int32_t status = resolve_tensor(GTH_OPERAND_INDICES, &taking.indices, error);
  return status ? status : resolve(*context, taking, extent, capacity, rows, error);
}

// ------------------------------------------------------------------------------------------------------------ Handles

int32_t make_column(const Column* column, gth_column** out, const Error& error) {
  uintptr_t token;
  Content* const content = acquire_slot(HandleKind::column, &token);
  if (!content) return fail_memory(sizeof(Content), error);
  content->as<void*>() = const_cast<Column*>(column);
  publish_slot(token);
  *out = handle_of<gth_column>(token);
  return GTH_OK;
}

int32_t find_column(const gth_column* handle, const Column** out, const Error& error) {
  if (!handle) return fail_null(GTH_OPERAND_PARAMS, error);
  const Content* const content = find_slot(token_of(handle), HandleKind::column);
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
  const int32_t status = take_rows_of(*context, &taking, *column, outputs, error);
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
  return take_rows_of(*context, &taking, *column, outputs, error);
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
  const bool found = release_slot(token_of(column), HandleKind::column, [&](const Content& content) {
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
  return api_boundary(
      err, [&](const Error& error) { return resolve_handles(context, extent, take, capacity, rows, error); });
}
