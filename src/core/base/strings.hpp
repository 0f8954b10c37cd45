#pragma once

#include <cstdint>

namespace gather::core {

// The buffers of a string tensor. String i is bytes[offsets[i] .. offsets[i + 1]).
struct Strings {
  const int64_t* offsets;
  const char* bytes;
  int64_t extent;  // the number of bytes
};

}  // namespace gather::core
