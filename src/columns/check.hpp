#pragma once

#include <cstring>

#include "columns/type.hpp"

namespace gather::columns {

// Returns offset + length of an array that check_array has accepted.
inline int64_t end_of(const ArrowArray& array) { return array.offset + array.length; }

// Returns the number of an offsets buffer, whose address needs no alignment.
template <class Offset>
int64_t offset_at(const void* offsets, int64_t i) {
  Offset offset;
  std::memcpy(&offset, static_cast<const char*>(offsets) + i * int64_t{sizeof offset}, sizeof offset);
  return offset;
}
inline int64_t offset_at(const Type& type, const void* offsets, int64_t i) {
  return type.is_wide ? offset_at<int64_t>(offsets, i) : offset_at<int32_t>(offsets, i);
}

// Returns the end of a run: the number of the first row behind it, without the offset of the array.
inline int64_t run_end_at(const Type& ends, const void* data, int64_t i) {
  switch (ends.width) {
    case 2: return offset_at<int16_t>(data, i);
    case 4: return offset_at<int32_t>(data, i);
    default: return offset_at<int64_t>(data, i);
  }
}

// Returns the size of the bytes of an array of strings or binary, which is its last offset.
int64_t bytes_size(const Type& type, const ArrowArray& array);

// Returns the validity bits of an array, or nullptr if it has no nulls.
inline const uint8_t* validity_of(const Type& type, const ArrowArray& array) {
  return has_validity(type) && array.null_count != 0 ? static_cast<const uint8_t*>(array.buffers[0]) : nullptr;
}

// Validates an array and its children, except their content: pointers, numbers of buffers and children, lengths and
// offsets. Its time does not depend on the length. Then every row of the array has memory in each buffer, and in each
// child of a struct or a list of fixed size.
int32_t check_array(const Type& type, const ArrowArray& array, Trouble* trouble);

}  // namespace gather::columns
