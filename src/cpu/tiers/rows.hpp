#pragma once

#include <cstring>

#include "cpu/tiers/tier.hpp"

// Copies rows. A class such as Fixed or Long copies and prefetches rows of one range of sizes. Part of body.hpp.
namespace gather::cpu {
namespace {

// The widest register, loaded from and stored to any address.
typedef int64_t Register __attribute__((vector_size(Lanes::register_bytes), aligned(1), may_alias));

// Holds `bytes` bytes in registers. If they do not fill whole registers, memcpy of a constant size moves them.
template <int64_t bytes, bool fills_registers = bytes % Lanes::register_bytes == 0>
struct Content {
  static constexpr int64_t count = bytes / Lanes::register_bytes;
  Register registers[static_cast<size_t>(count)];

  GATHER_INLINE explicit Content(const char* from) {
    for (int64_t i = 0; i < count; ++i) registers[i] = reinterpret_cast<const Register*>(from)[i];
  }
  GATHER_INLINE void store(char* to) const {
    for (int64_t i = 0; i < count; ++i) reinterpret_cast<Register*>(to)[i] = registers[i];
  }
};

template <int64_t bytes>
struct Content<bytes, false> {
  char content[static_cast<size_t>(bytes)];

  GATHER_INLINE explicit Content(const char* from) { std::memcpy(content, from, bytes); }
  GATHER_INLINE void store(char* to) const { std::memcpy(to, content, bytes); }
};

GATHER_INLINE void prefetch(const char* at) { __builtin_prefetch(at, 0, 1); }

// Copies rows of a size known at compile time.
template <int64_t size>
struct Fixed {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t) { Content<size>(from).store(to); }
  static GATHER_INLINE void prefetch_row(const char* from, int64_t) {
    prefetch(from);
    if (size > 16) prefetch(from + size - 1);
  }
};

// Copies rows of size to 2 * size bytes as two blocks of `size` bytes, which overlap in the middle. It accesses no byte
// outside the row.
template <int64_t size>
struct TwoEnds {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t row) {
    const Content<size> head(from), end(from + row - size);
    head.store(to);
    end.store(to + row - size);
  }
  static GATHER_INLINE void prefetch_row(const char* from, int64_t row) {
    prefetch(from);
    if (size >= 64) prefetch(from + 64);
    prefetch(from + row - 1);
  }
};

// Copies rows of at least 128 bytes. After the first store, the other stores are aligned to the register size, because
// stores across cache lines take twice as long.
struct Long {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t row) {
    Content<Lanes::register_bytes>(from).store(to);
    int64_t at = -static_cast<int64_t>(reinterpret_cast<intptr_t>(to)) & (Lanes::register_bytes - 1);
    for (; at + 128 <= row; at += 128) Content<128>(from + at).store(to + at);
    if (row - at > 64) {
      Content<128>(from + row - 128).store(to + row - 128);
    } else if (row > at) {
      Content<64>(from + row - 64).store(to + row - 64);
    }
  }
  static GATHER_INLINE void prefetch_row(const char* from, int64_t row) {
    const int64_t bytes = row < max_fetched ? row : max_fetched;
    for (int64_t at = 0; at < bytes; at += 64) prefetch(from + at);
    prefetch(from + bytes - 1);
  }

 private:
  static constexpr int64_t max_fetched = 4096;  // bytes after which the hardware prefetcher has detected the row
};

// Copies rows of a size that divides 16. The number of stores limits the speed, so rows that become contiguous are
// stored together, 16 bytes at a time.
template <class T>
struct Packed : Fixed<int64_t{sizeof(T)}> {
  static constexpr int64_t count = 16 / sizeof(T);
  typedef T Elements __attribute__((vector_size(16)));
  typedef T UnalignedElements __attribute__((vector_size(16), aligned(1), may_alias));

  static GATHER_INLINE T load(const char* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  static GATHER_INLINE void copy_together(char* to, const char* base, const int64_t* offsets) {
    Elements elements;
    for (int64_t i = 0; i < count; ++i) elements[i] = load(base + offsets[i]);
    *reinterpret_cast<UnalignedElements*>(to) = elements;
  }
};

template <class RowCopy>
void copy_rows(char* out, int64_t stride, const char* base, const int64_t* offsets, int64_t n, int64_t row) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i, out += stride) RowCopy::copy(out, base + offsets[i], row);
}

template <class T>
void copy_packed_rows(char* out, int64_t stride, const char* base, const int64_t* offsets, int64_t n, int64_t row) {
  int64_t i = 0;
  if (stride == row) {
    for (; i + Packed<T>::count <= n; i += Packed<T>::count) {
      Packed<T>::copy_together(out, base, offsets + i);
      out += 16;
    }
  }
  copy_rows<Packed<T>>(out, stride, base, offsets + i, n - i, row);
}

// Prefetches rows up to 64 rows or 64 KiB before they are copied.
template <class RowCopy>
void copy_rows_prefetched(char* out, int64_t stride, const char* base, const int64_t* offsets, int64_t n, int64_t row) {
  constexpr int64_t max_ahead = 64, max_bytes_ahead = 64 * 1024;
  int64_t ahead = max_bytes_ahead / row;
  if (ahead > max_ahead) ahead = max_ahead;
  if (ahead > n) ahead = n;
  for (int64_t i = 0; i < ahead; ++i) RowCopy::prefetch_row(base + offsets[i], row);
  int64_t i = 0;
  for (; i + ahead < n; ++i, out += stride) {
    RowCopy::prefetch_row(base + offsets[i + ahead], row);
    RowCopy::copy(out, base + offsets[i], row);
  }
  for (; i < n; ++i, out += stride) RowCopy::copy(out, base + offsets[i], row);
}

// Copies rows with non-temporal stores. Precondition: addresses and sizes are multiples of a cache line, because
// non-temporal stores of incomplete cache lines are slow.
struct Streamed : Long {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t row) {
    for (int64_t at = 0; at < row; at += Lanes::register_bytes) Lanes::stream(to + at, from + at);
  }
  static bool can_write(const char* out, int64_t stride, int64_t row) {
    return ((static_cast<int64_t>(reinterpret_cast<intptr_t>(out)) | stride | row) & 63) == 0;
  }
};

void copy_rows_streaming(char* out, int64_t stride, const char* base, const int64_t* offsets, int64_t n, int64_t row) {
  if (!Streamed::can_write(out, stride, row)) return copy_rows_prefetched<Long>(out, stride, base, offsets, n, row);
  copy_rows_prefetched<Streamed>(out, stride, base, offsets, n, row);
  Lanes::fence();
}

template <class RowCopy>
struct RowKind {
  using type = RowCopy;
};

// Calls on_row(RowKind<RowCopy>{}) with the class that copies rows of this size.
template <class OnRow>
auto with_row(const RowTraits& rows, OnRow on_row) {
  switch (rows.bytes) {
    case 1: return on_row(RowKind<Packed<uint8_t>>{});
    case 2: return on_row(RowKind<Packed<uint16_t>>{});
    case 4: return on_row(RowKind<Packed<uint32_t>>{});
    case 8: return on_row(RowKind<Packed<uint64_t>>{});
    case 16: return on_row(RowKind<Fixed<16>>{});
    case 32: return on_row(RowKind<Fixed<32>>{});
    case 64: return on_row(RowKind<Fixed<64>>{});
    default: break;
  }
  if (rows.bytes < 4) return on_row(RowKind<TwoEnds<2>>{});
  if (rows.bytes < 8) return on_row(RowKind<TwoEnds<4>>{});
  if (rows.bytes < 16) return on_row(RowKind<TwoEnds<8>>{});
  if (rows.bytes < 32) return on_row(RowKind<TwoEnds<16>>{});
  if (rows.bytes < 64) return on_row(RowKind<TwoEnds<32>>{});
  if (rows.bytes < 128) return on_row(RowKind<TwoEnds<64>>{});
  return on_row(RowKind<Long>{});
}

// Returns true if rows are written with non-temporal stores, provided that their addresses are aligned.
bool is_streamed(const RowTraits& rows) { return rows.streams && rows.bytes >= 256 && rows.bytes % 64 == 0; }

template <class RowCopy>
CopyRows plain_copy(RowKind<RowCopy>) {
  return copy_rows<RowCopy>;
}
template <class T>
CopyRows plain_copy(RowKind<Packed<T>>) {
  return copy_packed_rows<T>;
}

CopyRows choose_copy(const RowTraits& rows) {
  if (is_streamed(rows)) return copy_rows_streaming;
  return with_row(rows, [&](auto kind) -> CopyRows {
    return rows.exceeds_cache ? copy_rows_prefetched<typename decltype(kind)::type> : plain_copy(kind);
  });
}

}  // namespace
}  // namespace gather::cpu
