#pragma once

#include <cstdint>

namespace gather::cpu {

// Loads an index from any address as a 64-bit number; uint64 as its bit pattern. The compiler cannot repeat a volatile
// read, so the validated value is the value that is used.
template <class T>
int64_t load_index(const char* at) {
  struct __attribute__((packed)) Unaligned {
    T value;
  };
  return static_cast<int64_t>(reinterpret_cast<const volatile Unaligned*>(at)->value);
}

}  // namespace gather::cpu
