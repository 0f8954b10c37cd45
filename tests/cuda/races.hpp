#pragma once

#include "emulated.hpp"

// Writers beside a call.
namespace device {

// Writes a number before a block works on its rows, between validation and copy.
struct Writer {
  int64_t* indices;
  uint32_t block;
  int64_t value;
};

inline void write_index(void* user, uint32_t block) {
  const auto* writer = static_cast<const Writer*>(user);
  if (block == writer->block) writer->indices[0] = writer->value;
}

}  // namespace device
