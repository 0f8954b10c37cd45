#pragma once

#include "cpu/tiers/rows.hpp"

// Overwrites rows of a target with updates. Part of body.hpp.
namespace gather::cpu {
namespace {

template <class RowCopy>
void write_rows(char* target, const int64_t* offsets, const char* updates, const int64_t* from, int64_t n,
                int64_t row) {
  for (int64_t i = 0; i < n; ++i) RowCopy::copy(target + offsets[i], updates + from[i], row);
}

// Copies rows of whole cache lines. Uses non-temporal stores only if the row begins at a cache line, because
// non-temporal stores of incomplete cache lines are slow.
struct StreamedCacheLines {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t row) {
    if ((reinterpret_cast<intptr_t>(to) & 63) == 0) return Streamed::copy(to, from, row);
    for (int64_t at = 0; at < row; at += 64) Content<64>(from + at).store(to + at);
  }
};

void write_rows_streaming(char* target, const int64_t* offsets, const char* updates, const int64_t* from, int64_t n,
                          int64_t row) {
  write_rows<StreamedCacheLines>(target, offsets, updates, from, n, row);
  Lanes::fence();
}

WriteRows choose_write(int64_t row, Written written) {
  if (written == Written::streamed && row % 64 == 0) return write_rows_streaming;
  if (String::can_write(written, row)) return write_rows<String>;
  return with_row(row, [](auto kind) -> WriteRows { return write_rows<typename decltype(kind)::type>; });
}

}  // namespace
}  // namespace gather::cpu
