#include "columns/check.hpp"

#include <algorithm>

#include "core/base/checked.hpp"

namespace gather::columns {
namespace {

// The size of each buffer must fit int64, so this limits offset + length.
int64_t most_rows(const Type& type) {
  constexpr int64_t largest_element = 32;
  return INT64_MAX / std::max(type.width, largest_element) - 1;
}

int32_t check_range(const Type& type, const ArrowArray& array, Trouble* trouble) {
  if (array.length < 0) return trouble->fail(GTH_E_ARROW, "a length is negative", array.length);
  if (array.offset < 0) return trouble->fail(GTH_E_ARROW, "an offset is negative", array.offset);
  int64_t end;
  const int64_t most = most_rows(type);
  if (core::add(array.offset, array.length, &end) && end <= most) return GTH_OK;
  return trouble->fail(GTH_E_ARROW, "a length is too large", array.length, most);
}

// Returns true if an array of this type needs its second buffer when it has rows.
bool needs_content(const Type& type) { return buffers_of(type) > 1 && !(type.kind == Kind::fixed && !type.width); }

int32_t check_buffers(const Type& type, const ArrowArray& array, Trouble* trouble) {
  const int64_t count = buffers_of(type);
  // Some producers export a validity buffer for a type that has none.
  const int64_t most = type.kind == Kind::view ? INT64_MAX : has_validity(type) ? count : 1;
  if (array.n_buffers < count || array.n_buffers > most) {
    return trouble->fail(GTH_E_ARROW, "a number of buffers", array.n_buffers, count);
  }
  if (array.n_buffers && !array.buffers) return trouble->fail(GTH_E_ARROW, "buffers of an array are NULL");
  if (!has_validity(type)) return GTH_OK;
  if (array.null_count < -1) return trouble->fail(GTH_E_ARROW, "a null_count", array.null_count, -1);
  if (array.length == 0) return GTH_OK;  // Its buffers may be NULL.
  if (array.null_count > 0 && !array.buffers[0]) {
    return trouble->fail(GTH_E_ARROW, "a null_count without validity bits", array.null_count);
  }
  if (needs_content(type) && !array.buffers[1]) return trouble->fail(GTH_E_ARROW, "a buffer is NULL");
  if (type.has_sizes && !array.buffers[2]) return trouble->fail(GTH_E_ARROW, "sizes of lists are NULL");
  if (type.kind == Kind::view && array.n_buffers > count && !array.buffers[array.n_buffers - 1]) {
    return trouble->fail(GTH_E_ARROW, "sizes of buffers are NULL");
  }
  return GTH_OK;
}

// Returns the number of rows that the child of an array must have.
int64_t rows_of_child(const Type& type, const ArrowArray& array) {
  if (type.kind == Kind::structure) return end_of(array);
  return type.kind == Kind::fixed_list ? end_of(array) * type.width : 0;
}

int32_t check_child(const Type& type, const ArrowArray& array, int64_t i, Trouble* trouble) {
  const ArrowArray* const child = array.children[i];
  if (!child) return trouble->fail(GTH_E_ARROW, "a child of an array is NULL", i);
  if (int32_t status = check_array(type.children[i], *child, trouble)) return status;
  const int64_t needed = rows_of_child(type, array);
  if (child->length >= needed) return GTH_OK;
  return trouble->fail(GTH_E_ARROW, "a child is too short", child->length, needed);
}

// Validates that the runs reach the last row. The other ends are content.
int32_t check_runs(const Type& type, const ArrowArray& array, Trouble* trouble) {
  const ArrowArray &ends = *array.children[0], &values = *array.children[1];
  if (ends.null_count > 0) return trouble->fail(GTH_E_ARROW, "an end of a run is null", ends.null_count);
  if (values.length < ends.length) {
    return trouble->fail(GTH_E_ARROW, "a child is too short", values.length, ends.length);
  }
  if (array.length == 0) return GTH_OK;
  const int64_t last = ends.length ? run_end_at(type.children[0], ends.buffers[1], end_of(ends) - 1) : 0;
  if (last >= end_of(array)) return GTH_OK;
  return trouble->fail(GTH_E_ARROW, "the last run ends before the last row", last, end_of(array));
}

int32_t check_children(const Type& type, const ArrowArray& array, Trouble* trouble) {
  const bool has_dictionary = type.kind == Kind::dictionary;
  const int64_t count = has_dictionary ? 0 : type.count;
  if (array.n_children != count) return trouble->fail(GTH_E_ARROW, "a number of children", array.n_children, count);
  if (count && !array.children) return trouble->fail(GTH_E_ARROW, "children of an array are NULL");
  if (has_dictionary != (array.dictionary != nullptr)) {
    return trouble->fail(GTH_E_ARROW, has_dictionary ? "an array has no dictionary" : "an array has a dictionary");
  }
  for (int64_t i = 0; i < count; ++i) {
    if (int32_t status = check_child(type, array, i, trouble)) return status;
  }
  if (type.kind == Kind::runs) return check_runs(type, array, trouble);
  return has_dictionary ? check_array(type.children[0], *array.dictionary, trouble) : GTH_OK;
}

}  // namespace

int64_t bytes_size(const Type& type, const ArrowArray& array) {
  const bool is_empty = array.length == 0 || !array.buffers[2];
  return is_empty ? 0 : offset_at(type, array.buffers[1], end_of(array));
}

int32_t check_array(const Type& type, const ArrowArray& array, Trouble* trouble) {
  if (!array.release) return trouble->fail(GTH_E_ARROW, "an array has been released or moved");
  if (int32_t status = check_range(type, array, trouble)) return status;
  if (int32_t status = check_buffers(type, array, trouble)) return status;
  return check_children(type, array, trouble);
}

}  // namespace gather::columns
