#pragma once

#include <cstdint>
#include <cstring>

#include "core/base/error.hpp"

// Implements the growth rule of sized structs that gather.h states.
namespace gather::core {

constexpr uint32_t largest_struct = 4096;

// The size of a struct in the first release. It never changes.
template <class T>
inline constexpr uint32_t first_size = 0;
template <>
inline constexpr uint32_t first_size<gth_error> = GTH_ERROR_FIRST;
template <>
inline constexpr uint32_t first_size<gth_capability_info> = GTH_CAPABILITY_INFO_FIRST;
template <>
inline constexpr uint32_t first_size<gth_context_options> = GTH_CONTEXT_OPTIONS_FIRST;
template <>
inline constexpr uint32_t first_size<gth_tensor_desc> = GTH_TENSOR_DESC_FIRST;
template <>
inline constexpr uint32_t first_size<gth_codec> = GTH_CODEC_FIRST;
template <>
inline constexpr uint32_t first_size<gth_segment> = GTH_SEGMENT_FIRST;
template <>
inline constexpr uint32_t first_size<gth_files_options> = GTH_FILES_OPTIONS_FIRST;
template <>
inline constexpr uint32_t first_size<gth_files_stats> = GTH_FILES_STATS_FIRST;
template <>
inline constexpr uint32_t first_size<gth_options> = GTH_OPTIONS_FIRST;
template <>
inline constexpr uint32_t first_size<gth_request> = GTH_REQUEST_FIRST;
template <>
inline constexpr uint32_t first_size<gth_plan_args> = GTH_PLAN_ARGS_FIRST;
template <>
inline constexpr uint32_t first_size<gth_shards> = GTH_SHARDS_FIRST;
template <>
inline constexpr uint32_t first_size<gth_parts> = GTH_PARTS_FIRST;
template <>
inline constexpr uint32_t first_size<gth_take> = GTH_TAKE_FIRST;

template <class T>
bool is_struct_size(uint32_t size) {
  static_assert(first_size<T> > 0 && first_size<T> <= sizeof(T), "a struct keeps its first size");
  return size >= first_size<T> && size <= largest_struct && size % 4 == 0;
}

// Returns true if bytes [begin, end) of a struct are all zero.
inline bool is_zero(const void* object, uint32_t begin, uint32_t end) {
  const unsigned char* bytes = static_cast<const unsigned char*>(object);
  for (uint32_t i = begin; i < end; ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

// Returns true if a struct has its first or its current size, and all fields added after the first release are zero.
// The fast path accepts only such structs, because it reads the fields of the first release only.
template <class T>
bool has_first_fields_only(const T* given) {
  if constexpr (first_size<T> == sizeof(T)) {
    return given->size == sizeof(T);
  } else {
    return given->size == first_size<T> || (given->size == sizeof(T) && is_zero(given, first_size<T>, sizeof(T)));
  }
}

// Checks the size of a struct of the caller.
template <class T>
int32_t check_struct_size(const T* object, int32_t operand, const Error& error) {
  if (is_struct_size<T>(object->size)) return GTH_OK;
  return error.fail({GTH_E_VERSION, operand, 0, -1, object->size, sizeof(T)},
                    "%s: struct size %u, this library knows %u", operand_name(operand), object->size,
                    static_cast<uint32_t>(sizeof(T)));
}

template <class T>
__attribute__((noinline, cold)) int32_t read_other_size(const T* given, T* room, const T** out, int32_t operand,
                                                        const Error& error) {
  if (int32_t status = check_struct_size(given, operand, error)) return status;
  const uint32_t size = given->size, known = sizeof(T);
  *out = given;
  if (size > known) {
    if (is_zero(given, known, size)) return GTH_OK;
    return error.fail({GTH_E_VERSION, operand, static_cast<int32_t>(known), -1, size, known},
                      "%s: a field beyond the %u bytes this library knows is set", operand_name(operand), known);
  }
  std::memset(static_cast<void*>(room), 0, known);
  std::memcpy(static_cast<void*>(room), given, size);
  room->size = known;
  *out = room;
  return GTH_OK;
}

// Reads a struct of the caller. *out receives `given`. If `given` is shorter than T, *out receives `room`, which is a
// copy of `given` with zeros for the missing fields.
template <class T>
int32_t read_struct(const T* given, T* room, const T** out, int32_t operand, const Error& error) {
  *out = given;
  return given->size == sizeof(T) ? GTH_OK : read_other_size(given, room, out, operand, error);
}

// Writes as many bytes of `value` as the caller's struct has. The field size stays unchanged. Fields that a later header
// has become zero.
template <class T>
void write_struct(const T& value, T* out) {
  const uint32_t size = out->size;
  std::memcpy(static_cast<void*>(out), &value, size < sizeof(T) ? size : sizeof(T));
  out->size = size;
  if (size > sizeof(T)) std::memset(static_cast<void*>(out + 1), 0, size - sizeof(T));
}

}  // namespace gather::core
