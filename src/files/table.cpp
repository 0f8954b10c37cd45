#include "files/table.hpp"

#include <cinttypes>
#include <cstring>
#include <new>

#include "core/base/checked.hpp"

namespace gather::files {

using core::Error;
using core::fail_memory;

namespace {

int32_t fail_segment(int32_t status, int64_t i, int64_t value, int64_t limit, const char* what, const Error& error) {
  return error.fail({status, GTH_OPERAND_FILE, static_cast<int32_t>(i), -1, value, limit},
                    "file: segment %" PRId64 ": %s is %" PRId64 ", valid is at least %" PRId64, i, what, value, limit);
}

int32_t fail_open(int64_t i, const char* path, const char* verb, int32_t native, const Error& error) {
  char reason[96];
  core::describe_system_error(native, reason, sizeof reason);
  return error.fail({GTH_E_IO, GTH_OPERAND_FILE, static_cast<int32_t>(i), -1, 0, 0, 0, native},
                    "file: segment %" PRId64 ": cannot %s '%.100s': %s", i, verb, path ? path : "the given file",
                    reason);
}

// Checks the size of the memory if it is given. The rows of the segment end at byte `end` of the memory.
int32_t check_extent(int64_t i, const gth_segment& given, int64_t end, const Error& error) {
  if (given.extent == 0 && !(given.flags & GTH_SEGMENT_EXTENT)) return GTH_OK;
  const auto segment = static_cast<int32_t>(i);
  if (!given.data) {
    return error.fail({GTH_E_STRIDE, GTH_OPERAND_FILE, segment, -1, given.extent, 0},
                      "file: segment %" PRId64 ": has an extent of %" PRId64 ", but is not in memory", i, given.extent);
  }
  if (end <= given.extent) return GTH_OK;
  return error.fail({GTH_E_STRIDE, GTH_OPERAND_FILE, segment, -1, end, given.extent},
                    "file: segment %" PRId64 ": rows reach byte %" PRId64 " of the %" PRId64
                    " described (offset %" PRId64 ")",
                    i, end, given.extent, given.offset);
}

bool is_same_file(const gth_segment& a, const gth_segment& b) {
  if (a.path && b.path) return std::strcmp(a.path, b.path) == 0;
  return (a.flags & b.flags & GTH_SEGMENT_FILE) && a.file == b.file;
}

}  // namespace

int32_t fail_read(int64_t segment, int64_t position, const core::FileRange& range, int32_t native, const Error& error) {
  char reason[96] = "the file ends before them";
  if (native) core::describe_system_error(native, reason, sizeof reason);
  return error.fail(
      {GTH_E_IO, GTH_OPERAND_FILE, static_cast<int32_t>(segment), position, range.offset, range.bytes, 0, native},
      "file: segment %" PRId64 ": cannot read %" PRId64 " bytes from byte %" PRId64 " on: %s", segment, range.bytes,
      range.offset, reason);
}

Table::~Table() {
  for (int64_t i = 0; i < opened_; ++i) delete segments_[i].map;
  for (int64_t i = 0; i < file_count_; ++i) core::close_file(files_[i].handle);
  core::deallocate(segments_);
  core::deallocate(begins_);
  core::deallocate(files_);
}

int32_t Table::allocate(int64_t count, const Error& error) {
  int64_t bytes;
  if (!core::multiply(count, int64_t{sizeof(Segment)}, &bytes)) return fail_memory(INT64_MAX, error);
  segments_ = static_cast<Segment*>(core::allocate(static_cast<size_t>(bytes)));
  begins_ = static_cast<int64_t*>(core::allocate(static_cast<size_t>(count) * sizeof(int64_t)));
  files_ = static_cast<File*>(core::allocate(static_cast<size_t>(count) * sizeof(File)));
  return segments_ && begins_ && files_ ? GTH_OK : fail_memory(bytes, error);
}

// Successive segments of one file share its descriptor.
int32_t Table::open_file(int64_t i, const gth_segment* const* given, const Error& error) {
  const gth_segment& each = *given[i];
  Segment& segment = segments_[i];
  if (i > 0 && is_same_file(*given[i - 1], each)) {
    segment.file = segments_[i - 1].file;
    return GTH_OK;
  }
  core::FileHandle handle;
  const int32_t native = each.path ? core::open_file(each.path, &handle) : core::duplicate_file(each.file, &handle);
  if (native) return fail_open(i, each.path, "open", native, error);
  segment.file = file_count_;
  new (&files_[file_count_++]) File{handle, {true}};
  return GTH_OK;
}

// Checks that the file of a segment has all of its rows.
int32_t Table::check_size(int64_t i, const char* path, int64_t bytes, const Error& error) {
  const Segment& segment = segments_[i];
  int64_t size = 0;
  if (int32_t native = core::measure_file(file(segment).handle, &size)) {
    return fail_open(i, path, "read", native, error);
  }
  return segment.offset + bytes <= size ? GTH_OK : fail_read(i, -1, {segment.offset, bytes}, 0, error);
}

int32_t Table::map_segment(int64_t i, int64_t bytes, const Error& error) {
  Segment& segment = segments_[i];
  segment.map = new (std::nothrow) PageMap;
  if (!segment.map) return fail_memory(sizeof(PageMap), error);
  int64_t missing;
  const int32_t native = segment.map->open(file(segment).handle, {segment.offset, bytes}, budget_ > 0, &missing);
  if (missing) return fail_memory(missing, error);
  if (native) return fail_open(i, nullptr, "map", native, error);
  segment.memory = segment.map->data();
  return GTH_OK;
}

int32_t Table::open_segment(int64_t i, const gth_segment* const* given, const Error& error) {
  const gth_segment& each = *given[i];
  if (each.offset < 0) return fail_segment(GTH_E_STRIDE, i, each.offset, 0, "offset", error);
  const int64_t stride = each.row_stride ? each.row_stride : row_bytes_;
  if (stride < row_bytes_) return fail_segment(GTH_E_STRIDE, i, each.row_stride, row_bytes_, "row_stride", error);
  int64_t bytes, end;
  if (!core::multiply(each.rows - 1, stride, &bytes) || !core::add(bytes, row_bytes_, &bytes) ||
      !core::add(each.offset, bytes, &end)) {
    return error.fail({GTH_E_SIZE, GTH_OPERAND_FILE, static_cast<int32_t>(i), -1, each.rows, INT64_MAX},
                      "file: segment %" PRId64 ": the end of %" PRId64 " rows does not fit int64", i, each.rows);
  }
  if (int32_t status = check_extent(i, each, end, error)) return status;
  const int64_t begin = rows_ * row_bytes_;
  rows_ += each.rows;
  begins_[i] = begin;
  Segment& segment =
      *new (&segments_[i]) Segment{begin, rows_ * row_bytes_, each.rows, each.offset, stride, nullptr, -1, nullptr};
  opened_ = i + 1;
  if (each.data) {
    segment.memory = static_cast<const char*>(each.data) + each.offset;
    return GTH_OK;
  }
  is_memory_ = false;
  if (int32_t status = open_file(i, given, error)) return status;
  if (int32_t status = check_size(i, each.path, bytes, error)) return status;
  return mode_ == GTH_FILES_MAP && bytes > 0 ? map_segment(i, bytes, error) : GTH_OK;
}

int32_t Table::open(const gth_segment* const* given, int64_t count, int64_t row_bytes, const gth_files_options& options,
                    Table** out, const Error& error) {
  Table* const table = new (std::nothrow) Table;
  if (!table) return fail_memory(sizeof(Table), error);
  table->row_bytes_ = row_bytes;
  table->count_ = count;
  table->mode_ = options.mode == GTH_FILES_MAP && core::has_file_maps() ? GTH_FILES_MAP : GTH_FILES_READ;
  table->budget_ = table->mode_ == GTH_FILES_MAP ? options.resident : 0;
  int32_t status = table->allocate(count, error);
  for (int64_t i = 0; i < count && !status; ++i) status = table->open_segment(i, given, error);
  if (status) {
    delete table;
    return status;
  }
  *out = table;
  return GTH_OK;
}

bool Table::overlaps(const char* low, const char* high) const {
  return std::any_of(segments_, segments_ + count_, [&](const Segment& each) {
    if (!each.memory || each.map || row_bytes_ == 0) return false;
    return each.memory < high && low < each.memory + (each.rows - 1) * each.stride + row_bytes_;
  });
}

}  // namespace gather::files
