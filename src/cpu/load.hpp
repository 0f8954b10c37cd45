#pragma once

#include <cstdint>

namespace gather::cpu {

// An index at any address, as a 64-bit number; uint64 as its bit pattern. A volatile read cannot be repeated behind our
// back: what has been judged is what is used.
template <class T>
int64_t load_index(const char* at) {
  struct __attribute__((packed)) Unaligned {
    T value;
  };
  return static_cast<int64_t>(reinterpret_cast<const volatile Unaligned*>(at)->value);
}

}  // namespace gather::cpu
