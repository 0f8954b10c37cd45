#pragma once

#include <cstdint>
#include <cstring>

#include "core/error.hpp"

// The growth rule of sized structs.
namespace gather::core {

constexpr uint32_t largest_struct = 4096;

inline bool is_struct_size(uint32_t size, uint32_t known) {
  return size >= known && size <= largest_struct && size % 4 == 0;
}

// Whether the fields beyond the ones we know are all zero.
inline bool has_zero_tail(const void* object, uint32_t size, uint32_t known) {
  const unsigned char* bytes = static_cast<const unsigned char*>(object);
  for (uint32_t i = known; i < size; ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

// Checks the size of a struct that the library reads. T begins with its size.
template <class T>
int32_t check_struct(const T* object, int32_t operand, const Error& error) {
  const uint32_t known = sizeof(T);
  if (!is_struct_size(object->size, known)) {
    return error.fail({GTH_E_VERSION, operand, 0, -1, object->size, known}, "%s: struct size %u, this library knows %u",
                      operand_name(operand), object->size, known);
  }
  if (object->size > known && !has_zero_tail(object, object->size, known)) {
    return error.fail({GTH_E_VERSION, operand, static_cast<int32_t>(known), -1, object->size, known},
                      "%s: a field beyond the %u bytes this library knows is set", operand_name(operand), known);
  }
  return GTH_OK;
}

}  // namespace gather::core
