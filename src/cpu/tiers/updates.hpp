#pragma once

#include "cpu/tiers/rows.hpp"

// Rows of updates, written over those of a target or added to them. Part of body.hpp.
namespace gather::cpu {
namespace {

template <class Row>
void write_rows(char* target, const int64_t* offsets, const char* updates, const int64_t* from, int64_t n,
                int64_t row) {
  for (int64_t i = 0; i < n; ++i) Row::copy(target + offsets[i], updates + from[i], row);
}

// Rows of whole cache lines, past the caches where they also begin with one: what is written in parts of a line is slow.
struct StreamedLines {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t row) {
    if ((reinterpret_cast<intptr_t>(to) & 63) == 0) return Streamed::copy(to, from, row);
    for (int64_t at = 0; at < row; at += 64) Content<64>(from + at).store(to + at);
  }
};

void write_flooding(char* target, const int64_t* offsets, const char* updates, const int64_t* from, int64_t n,
                    int64_t row) {
  write_rows<StreamedLines>(target, offsets, updates, from, n, row);
  Lanes::fence();
}

WriteRows choose_write(const Rows& rows) {
  if (rows.is_flooding && rows.bytes % 64 == 0) return write_flooding;
  return with_row(rows, [&](auto kind) -> WriteRows { return write_rows<typename decltype(kind)::type>; });
}

// Numbers that fill a register, or a part of one, in memory at any address.
template <class T, int64_t width>
struct Numbers {
  typedef T V __attribute__((vector_size(static_cast<size_t>(width)), aligned(1), may_alias));

  static GATHER_INLINE V sum(const char* a, const char* b) {
    return *reinterpret_cast<const V*>(a) + *reinterpret_cast<const V*>(b);
  }
  static GATHER_INLINE void store(char* at, V v) { *reinterpret_cast<V*>(at) = v; }
};

constexpr int64_t fitting(int64_t bytes) { return bytes < Lanes::register_bytes ? bytes : Lanes::register_bytes; }

// Rows of a size known here.
template <class T, int64_t size>
struct FixedSum {
  static GATHER_INLINE void add(char* to, const char* from, int64_t) {
    using Part = Numbers<T, fitting(size)>;
    for (int64_t at = 0; at < size; at += fitting(size)) Part::store(to + at, Part::sum(to + at, from + at));
  }
};

// Rows of at least `width` bytes. The end, which overlaps what is in front of it, is summed before that is.
template <class T, int64_t width>
struct LongSum {
  static GATHER_INLINE void add(char* to, const char* from, int64_t row) {
    using Part = Numbers<T, width>;
    const int64_t end = row - width;
    const typename Part::V last = Part::sum(to + end, from + end);
    for (int64_t at = 0; at < end; at += width) Part::store(to + at, Part::sum(to + at, from + at));
    Part::store(to + end, last);
  }
};

template <class Sum>
void add_rows(char* target, const int64_t* offsets, const char* updates, const int64_t* from, int64_t n, int64_t row) {
  for (int64_t i = 0; i < n; ++i) Sum::add(target + offsets[i], updates + from[i], row);
}

template <class T>
WriteRows choose_sum_of(int64_t row) {
  if (row == 16) return add_rows<FixedSum<T, 16>>;
  if (row == 32) return add_rows<FixedSum<T, 32>>;
  if (row == 64) return add_rows<FixedSum<T, 64>>;
  if (row < 16) return nullptr;
  if (row < 32) return add_rows<LongSum<T, 16>>;
  if (row < 64) return add_rows<LongSum<T, fitting(32)>>;
  return add_rows<LongSum<T, fitting(64)>>;
}

WriteRows choose_sum(Addend addend, int64_t row) {
  switch (addend) {
    case Addend::integer8: return choose_sum_of<uint8_t>(row);
    case Addend::integer16: return choose_sum_of<uint16_t>(row);
    case Addend::integer32: return choose_sum_of<uint32_t>(row);
    case Addend::integer64: return choose_sum_of<uint64_t>(row);
    case Addend::float32: return choose_sum_of<float>(row);
    default: return choose_sum_of<double>(row);
  }
}

}  // namespace
}  // namespace gather::cpu
