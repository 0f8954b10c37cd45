#pragma once

#include "cpu/tiers/rows.hpp"

// Overwrites rows of a target with updates, or adds updates to them. Part of body.hpp.
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

WriteRows choose_write(const RowTraits& rows) {
  if (rows.streams && rows.bytes % 64 == 0) return write_rows_streaming;
  return with_row(rows, [&](auto kind) -> WriteRows { return write_rows<typename decltype(kind)::type>; });
}

// Adds vectors of `width` bytes. Addresses need no alignment.
template <class T, int64_t width>
struct Numbers {
  typedef T V __attribute__((vector_size(static_cast<size_t>(width)), aligned(1), may_alias));

  static GATHER_INLINE V sum(const char* a, const char* b) {
    return *reinterpret_cast<const V*>(a) + *reinterpret_cast<const V*>(b);
  }
  static GATHER_INLINE void store(char* at, V v) { *reinterpret_cast<V*>(at) = v; }
};

constexpr int64_t fitting(int64_t bytes) { return bytes < Lanes::register_bytes ? bytes : Lanes::register_bytes; }

// Adds rows of a size known at compile time.
template <class T, int64_t size>
struct FixedSum {
  static GATHER_INLINE void add(char* to, const char* from, int64_t) {
    using Vector = Numbers<T, fitting(size)>;
    for (int64_t at = 0; at < size; at += fitting(size)) Vector::store(to + at, Vector::sum(to + at, from + at));
  }
};

// Adds rows of at least `width` bytes. The last vector overlaps the one before it, so its sum is computed first and
// stored last.
template <class T, int64_t width>
struct LongSum {
  static GATHER_INLINE void add(char* to, const char* from, int64_t row) {
    using Vector = Numbers<T, width>;
    const int64_t end = row - width;
    const typename Vector::V last = Vector::sum(to + end, from + end);
    for (int64_t at = 0; at < end; at += width) Vector::store(to + at, Vector::sum(to + at, from + at));
    Vector::store(to + end, last);
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
