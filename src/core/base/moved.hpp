#pragma once

#include <cstdint>

namespace gather::core {

// Moves a pointer by a number of bytes. It uses integer arithmetic, because a pointer that is not read may be NULL.
// Also, the stride of a dim of extent 1 may be any number.
inline const char* moved(const void* from, int64_t bytes) {
  return reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(from) + static_cast<uintptr_t>(bytes));
}
inline char* moved(char* from, int64_t bytes) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(from) + static_cast<uintptr_t>(bytes));
}

}  // namespace gather::core
