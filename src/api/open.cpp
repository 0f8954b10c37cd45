#include <algorithm>
#include <cinttypes>
#include <new>

#include "api/operands.hpp"
#include "api/packed_tensor.hpp"
#include "api/run.hpp"
#include "core/base/checked.hpp"
#include "core/base/limits.hpp"
#include "core/meaning/codec_meaning.hpp"
#include "core/meaning/geometry.hpp"
#include "core/plan/lower.hpp"
#include "core/types/device.hpp"
#include "core/types/dtype.hpp"
#include "core/types/resolve_index.hpp"
#include "execution/execute.hpp"
#include "files/table.hpp"

// Opens tables in files.
namespace gather::api {
namespace {

// Owns a table. Closing a file is a cancellation point.
class TableStorage final : public Storage {
 public:
  explicit TableStorage(files::Table* table) : table_(table) {}

 private:
  ~TableStorage() override {
    const core::Uncancelled uncancelled;
    delete table_;
  }

  files::Table* const table_;
};

// What the caller gives, with the structs that are known here.
struct Opening {
  const gth_tensor_desc* desc;
  int64_t count;
  const gth_segment* const* segments;
  gth_files_options options = GTH_FILES_OPTIONS_INIT;
  int64_t row_bytes = 0;
};

int32_t read_options(const gth_files_options* given, gth_files_options* out, const Error& error) {
  if (!given) return GTH_OK;
  gth_files_options room;
  if (int32_t status = core::read_struct(given, &room, &given, GTH_OPERAND_OPTIONS, error)) return status;
  *out = *given;
  if (out->mode < 0 || out->mode > GTH_FILES_MAP) {
    return error.fail(
        {GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_files_options, mode), -1, out->mode, GTH_FILES_MAP},
        "options: unknown mode %" PRId32, out->mode);
  }
  if (out->resident == 0 || out->resident >= least_budget) return GTH_OK;
  return error.fail(
      {GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_files_options, resident), -1, out->resident, least_budget},
      "options: a budget of %" PRId64 " bytes, needed are at least %" PRId64, out->resident, least_budget);
}

int32_t check_pointers(const Opening& opening, const Error& error) {
  if (!opening.desc) return fail_null(GTH_OPERAND_TENSOR, error);
  if (!opening.segments) return fail_null(GTH_OPERAND_FILE, error);
  const auto end = opening.segments + std::max<int64_t>(opening.count, 0);
  return std::find(opening.segments, end, nullptr) == end ? GTH_OK : fail_null(GTH_OPERAND_FILE, error);
}

// The rows of a segment are at one place: in a file that has a path or a descriptor, or in memory.
int32_t check_place(int64_t i, const gth_segment& given, const Error& error) {
  const bool has_file = given.flags & GTH_SEGMENT_FILE;
  const int places = (given.path != nullptr) + (given.data != nullptr) + has_file;
  if (places == 1) return GTH_OK;
  const auto segment = static_cast<int32_t>(i);
  if (places == 0) {
    return error.fail({GTH_E_NULL, GTH_OPERAND_FILE, segment}, "file: segment %" PRId64 ": has no path, data or file",
                      i);
  }
  return error.fail({GTH_E_VERSION, GTH_OPERAND_FILE, segment, -1, places, 1},
                    "file: segment %" PRId64 ": has more than one of path, data and file", i);
}

int32_t read_segments(const Opening& opening, const Error& error) {
  constexpr uint32_t known = GTH_SEGMENT_EXTENT | GTH_SEGMENT_FILE;
  for (int64_t i = 0; i < opening.count; ++i) {
    gth_segment room;
    const gth_segment* read;
    if (int32_t status = core::read_struct(opening.segments[i], &room, &read, GTH_OPERAND_FILE, error)) return status;
    if (read->flags & ~known) {
      return error.fail({GTH_E_VERSION, GTH_OPERAND_FILE, static_cast<int32_t>(i), -1, read->flags, known},
                        "file: segment %" PRId64 ": unknown flags %" PRIu32, i, read->flags);
    }
    if (int32_t status = check_place(i, *read, error)) return status;
  }
  return GTH_OK;
}

int32_t check_no_memory(const gth_tensor_desc& desc, const Error& error) {
  if (!desc.data && !desc.strides && desc.offset == 0 && desc.extent == 0 && desc.device <= GTH_DEVICE_CPU)
    return GTH_OK;
  return error.fail({GTH_E_STRIDE, GTH_OPERAND_TENSOR},
                    "tensor: a table in files has no data, strides, offset, extent or device");
}

// Computes the bytes of an entry of dim 0.
int32_t measure_row(Opening* opening, const Error& error) {
  const gth_tensor_desc& desc = *opening->desc;
  const core::DtypeInfo* const info = core::find_dtype(desc.dtype);
  if (!desc.codec) {
    opening->row_bytes = core::dense_product(desc.shape, 1, desc.ndim, info->bytes);
    return GTH_OK;
  }
  gth_codec room;
  const gth_codec* given;
  core::Codec codec;
  int32_t status = core::read_struct(desc.codec, &room, &given, GTH_OPERAND_CODEC, error);
  if (status) return status;
  if (desc.ndim < 2) {
    return error.fail({GTH_E_RANK, GTH_OPERAND_TENSOR, -1, -1, desc.ndim, 2},
                      "tensor: rank is %" PRId32 ", packed rows have at least 2", desc.ndim);
  }
  if ((status = core::resolve_codec(*given, desc.shape[desc.ndim - 1], &codec, error))) return status;
  opening->row_bytes = core::dense_product(desc.shape, 1, desc.ndim - 1, codec.row_bytes);
  int64_t bytes;
  if (core::multiply(opening->row_bytes, desc.shape[0], &bytes)) return GTH_OK;
  return error.fail({GTH_E_SIZE, GTH_OPERAND_TENSOR, 0, -1, desc.shape[0], INT64_MAX / opening->row_bytes},
                    "tensor: the bytes of %" PRId64 " rows do not fit int64", desc.shape[0]);
}

// Checks the shape of the table, and that the segments have its rows.
int32_t check_shape(const Opening& opening, const Error& error) {
  const gth_tensor_desc& desc = *opening.desc;
  if (desc.dtype == GTH_DTYPE_STRING) {
    return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR, -1, -1, GTH_DTYPE_STRING, 0},
                      "tensor: strings have no rows of fixed size");
  }
  const core::DtypeInfo* const info = core::find_dtype(desc.dtype);
  if (!info) {
    return error.fail({GTH_E_DTYPE, GTH_OPERAND_TENSOR, -1, -1, desc.dtype, 0}, "tensor: %" PRId32 " is no dtype",
                      desc.dtype);
  }
  int64_t elements;
  if (desc.ndim == 0) {
    return error.fail({GTH_E_RANK, GTH_OPERAND_TENSOR, -1, -1, 0, 1}, "tensor: rank is 0, needed is at least 1");
  }
  const int32_t status = check_dense(desc.ndim, desc.shape, info->bytes, &elements, error);
  if (status && status != GTH_E_SIZE) return status;
  if (opening.count < 1) {
    return error.fail({GTH_E_SHAPE, GTH_OPERAND_FILE, -1, -1, opening.count, 1},
                      "file: %" PRId64 " segments, needed is at least 1", opening.count);
  }
  int64_t rows = 0;
  for (int64_t i = 0; i < opening.count; ++i) {
    const int64_t given = opening.segments[i]->rows;
    if (given < 1) {
      return error.fail({GTH_E_SHAPE, GTH_OPERAND_FILE, static_cast<int32_t>(i), -1, given, 1},
                        "file: segment %" PRId64 ": rows is %" PRId64 ", valid is at least 1", i, given);
    }
    if (!core::add(rows, given, &rows)) rows = INT64_MAX;
  }
  if (rows == desc.shape[0]) return status;
  return error.fail({GTH_E_SHAPE, GTH_OPERAND_TENSOR, 0, -1, desc.shape[0], rows},
                    "tensor: dim 0 is %" PRId64 ", the segments have %" PRId64 " rows", desc.shape[0], rows);
}

int32_t check_opening(gth_context* context, const gth_files_options* options, Opening* opening, const Error& error) {
  int32_t status = read_segments(*opening, error);
  if (!status) status = core::check_desc(*opening->desc, GTH_OPERAND_TENSOR, true, error);
  if (!status) status = read_options(options, &opening->options, error);
  const Context* found = nullptr;
  if (!status) status = find_context(context, &found, error);
  if (!status) status = check_shape(*opening, error);
  if (!status) status = check_no_memory(*opening->desc, error);
  if (!status && found->device != GTH_DEVICE_CPU) {
    status = core::fail_device(GTH_OPERAND_CONTEXT, found->device, GTH_DEVICE_CPU, error);
  }
  return status ? status : measure_row(opening, error);
}

int32_t make_table(const gth_tensor_desc& given, files::Table* table, Storage* storage, gth_tensor** out,
                   const Error& error) {
  gth_tensor_desc desc = given;
  desc.device = GTH_DEVICE_CPU;
  desc.data = table;
  desc.flags = GTH_TENSOR_READONLY;
  if (!desc.codec) {
    desc.flags |= core::tensor_in_files;
    desc.extent = count_bytes(desc);
    return make_tensor(desc, storage, out, error);
  }
  const int32_t status = make_packed(desc, core::tensor_in_files, storage, out, error);
  if (status) error.rename_operand(GTH_OPERAND_PARAMS, GTH_OPERAND_TENSOR);
  return status;
}

int32_t open(gth_context* context, const gth_tensor_desc* desc, int64_t count, const gth_segment* const* segments,
             const gth_files_options* options, gth_tensor** out, const Error& error) {
  const core::Uncancelled uncancelled;
  Opening opening{desc, count, segments};
  gth_tensor_desc room;
  if (int32_t status = check_pointers(opening, error)) return status;
  if (int32_t status = core::read_struct(desc, &room, &opening.desc, GTH_OPERAND_TENSOR, error)) return status;
  if (int32_t status = check_opening(context, options, &opening, error)) return status;
  files::Table* table = nullptr;
  int32_t status = files::Table::open(segments, count, opening.row_bytes, opening.options, &table, error);
  if (status) return status;
  Storage* const storage = new (std::nothrow) TableStorage(table);
  if (!storage) {
    delete table;
    return fail_memory(sizeof(TableStorage), error);
  }
  if ((status = make_table(*opening.desc, table, storage, out, error))) storage->release();
  return status;
}

// Finds the table of a handle.
int32_t find_table(const gth_tensor* handle, const files::Table** out, const Error& error) {
  const Tensor* tensor = nullptr;
  if (int32_t status = find_tensor(handle, GTH_OPERAND_TENSOR, &tensor, error)) return status;
  if (!(tensor->desc.flags & core::tensor_in_files)) {
    return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR}, "tensor: is not in files");
  }
  *out = &files::table_at(tensor->desc.data);
  return GTH_OK;
}

// The rows are those of a gather. Invalid indices are skipped.
int32_t prefetch(gth_context* context, const gth_tensor* tensor, const gth_tensor_desc* indices,
                 const gth_options* options, const Error& error) {
  const files::Table* table = nullptr;
  if (!tensor) return fail_null(GTH_OPERAND_TENSOR, error);
  if (!indices) return fail_null(GTH_OPERAND_INDICES, error);
  const gth_tensor_desc named = GTH_TENSOR_DESC_HANDLE(tensor);
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &named, indices, nullptr, options);
  Found found;
  int32_t status = find_operands(context, request, core::Open::none, Results::ignored, &found, error);
  if (!status) status = find_table(tensor, &table, error);
  core::Plan plan;
  if (!status) status = core::lower(found.request, &plan, error);
  core::Pointers pointers{};
  if (!status) pointers = pointers_of(found.request);
  if (!status) status = core::check_index_run(plan, pointers, GTH_OPEN, nullptr, error);
  if (status) {
    error.rename_operand(GTH_OPERAND_PARAMS, GTH_OPERAND_TENSOR);
    return status;
  }
  if (!core::is_total(core::outside_of(plan.bounds))) plan.bounds = GTH_BOUNDS_SKIP;
  cpu::request_rows(plan, pointers);
  return GTH_OK;
}

int32_t read_stats(const gth_tensor* tensor, gth_files_stats* stats, const Error& error) {
  const files::Table* table = nullptr;
  if (!tensor) return fail_null(GTH_OPERAND_TENSOR, error);
  if (!stats) return error.fail({GTH_E_NULL}, "stats is NULL");
  if (int32_t status = core::check_struct_size(stats, GTH_OPERAND_NONE, error)) return status;
  if (int32_t status = find_table(tensor, &table, error)) return status;
  const files::Table::Counters& counters = table->counters();
  const gth_files_stats now{sizeof(gth_files_stats), table->mode(),     counters.rows,
                            counters.requested,      counters.releases, table->residence().bytes};
  core::write_struct(now, stats);
  return GTH_OK;
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;

int32_t gth_tensor_open(gth_context* context, const gth_tensor_desc* desc, int64_t count,
                        const gth_segment* const* segments, const gth_files_options* options, gth_tensor** out,
                        gth_error* err) {
  return api_boundary(out, err,
                      [&](const Error& error) { return open(context, desc, count, segments, options, out, error); });
}

int32_t gth_tensor_prefetch(gth_context* context, const gth_tensor* tensor, const gth_tensor_desc* indices,
                            const gth_options* options, gth_error* err) {
  return api_boundary(err, [&](const Error& error) { return prefetch(context, tensor, indices, options, error); });
}

int32_t gth_tensor_stats(const gth_tensor* tensor, gth_files_stats* stats, gth_error* err) {
  return api_boundary(err, [&](const Error& error) { return read_stats(tensor, stats, error); });
}
