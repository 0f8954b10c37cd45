#pragma once

#include <cstdint>
#include <cstring>

namespace gather::cpu {

// Copies a string. Short strings are copied in steps of 32 bytes, if both memories extend that far. A fixed step avoids
// branches that depend on the lengths, which are hard to predict. A step may write bytes behind the string.
inline void copy_string(char* to, const char* to_end, const char* from, const char* from_end, int64_t length) {
  constexpr int64_t step = 32, long_string = 128;
  if (length > long_string || to_end - to < length + step || from_end - from < length + step) {
    std::memcpy(to, from, static_cast<size_t>(length));
    return;
  }
  for (int64_t at = 0; at < length; at += step) std::memcpy(to + at, from + at, step);
}

}  // namespace gather::cpu
