#pragma once

#include <cstdint>

namespace gather::cpu {

// Copies n rows of `row` bytes: row i from base + offsets[i] to out + i * stride. No alignment is asked for.
using CopyRows = void (*)(char* out, int64_t stride, const char* base, const int64_t* offsets, int64_t n, int64_t row);

// The copy for a row size: a fixed size, a size class with overlapped ends, or memcpy.
CopyRows choose_copy(int64_t row);

}  // namespace gather::cpu
