#pragma once

#include <cstring>

#include "cpu/tiers/tier.hpp"

// Rows of every size, copied. Part of body.hpp.
namespace gather::cpu {
namespace {

// The widest register, in memory at any address.
typedef int64_t Register __attribute__((vector_size(Lanes::register_bytes), aligned(1), may_alias));

// So many bytes in registers; those of other sizes than theirs as memcpy of a constant size sees fit.
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

GATHER_INLINE void fetch(const char* at) { __builtin_prefetch(at, 0, 1); }

// Rows of a size known here.
template <int64_t size>
struct Fixed {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t) { Content<size>(from).store(to); }
  static GATHER_INLINE void fetch_row(const char* from, int64_t) {
    fetch(from);
    if (size > 16) fetch(from + size - 1);
  }
};

// Rows of size to 2 * size bytes: both ends, which overlap in the middle. Never a byte beyond the row.
template <int64_t size>
struct TwoEnds {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t row) {
    const Content<size> head(from), end(from + row - size);
    head.store(to);
    end.store(to + row - size);
  }
  static GATHER_INLINE void fetch_row(const char* from, int64_t row) {
    fetch(from);
    if (size >= 64) fetch(from + 64);
    fetch(from + row - 1);
  }
};

// Rows of at least 128 bytes. Stores that straddle cache lines take twice as long: after the first register, the others go
// to multiples of their size.
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
  static GATHER_INLINE void fetch_row(const char* from, int64_t row) {
    const int64_t bytes = row < most_fetched ? row : most_fetched;
    for (int64_t at = 0; at < bytes; at += 64) fetch(from + at);
    fetch(from + bytes - 1);
  }

 private:
  static constexpr int64_t most_fetched = 4096;  // by then the processor has seen where it goes
};

// Rows of a size that divides 16. What holds them up is one store for each of them: where they come to lie one after the
// other, as many as fit a register are stored together.
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

template <class Row>
void copy_near(char* out, int64_t stride, const char* base, const int64_t* offsets, int64_t n, int64_t row) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i, out += stride) Row::copy(out, base + offsets[i], row);
}

template <class T>
void copy_elements(char* out, int64_t stride, const char* base, const int64_t* offsets, int64_t n, int64_t row) {
  int64_t i = 0;
  if (stride == row) {
    for (; i + Packed<T>::count <= n; i += Packed<T>::count) {
      Packed<T>::copy_together(out, base, offsets + i);
      out += 16;
    }
  }
  copy_near<Packed<T>>(out, stride, base, offsets + i, n - i, row);
}

// Each row is fetched so many rows before it is copied that it has arrived by then.
template <class Row>
void copy_far(char* out, int64_t stride, const char* base, const int64_t* offsets, int64_t n, int64_t row) {
  constexpr int64_t most_ahead = 64, most_bytes_ahead = 64 * 1024;
  int64_t ahead = most_bytes_ahead / row;
  if (ahead > most_ahead) ahead = most_ahead;
  if (ahead > n) ahead = n;
  for (int64_t i = 0; i < ahead; ++i) Row::fetch_row(base + offsets[i], row);
  int64_t i = 0;
  for (; i + ahead < n; ++i, out += stride) {
    Row::fetch_row(base + offsets[i + ahead], row);
    Row::copy(out, base + offsets[i], row);
  }
  for (; i < n; ++i, out += stride) Row::copy(out, base + offsets[i], row);
}

// Written past the caches, register by register. Addresses and sizes are multiples of a cache line, for what is written in
// parts of one is slow.
struct Streamed : Long {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t row) {
    for (int64_t at = 0; at < row; at += Lanes::register_bytes) Lanes::stream(to + at, from + at);
  }
  static bool can_write(const char* out, int64_t stride, int64_t row) {
    return ((static_cast<int64_t>(reinterpret_cast<intptr_t>(out)) | stride | row) & 63) == 0;
  }
};

void copy_flooding(char* out, int64_t stride, const char* base, const int64_t* offsets, int64_t n, int64_t row) {
  if (!Streamed::can_write(out, stride, row)) return copy_far<Long>(out, stride, base, offsets, n, row);
  copy_far<Streamed>(out, stride, base, offsets, n, row);
  Lanes::fence();
}

template <class Row>
struct Kind {
  using type = Row;
};

// Calls on_row(Kind<Row>{}) with what rows are copied as.
template <class OnRow>
auto with_row(const Rows& rows, OnRow on_row) {
  switch (rows.bytes) {
    case 1: return on_row(Kind<Packed<uint8_t>>{});
    case 2: return on_row(Kind<Packed<uint16_t>>{});
    case 4: return on_row(Kind<Packed<uint32_t>>{});
    case 8: return on_row(Kind<Packed<uint64_t>>{});
    case 16: return on_row(Kind<Fixed<16>>{});
    case 32: return on_row(Kind<Fixed<32>>{});
    case 64: return on_row(Kind<Fixed<64>>{});
    default: break;
  }
  if (rows.bytes < 4) return on_row(Kind<TwoEnds<2>>{});
  if (rows.bytes < 8) return on_row(Kind<TwoEnds<4>>{});
  if (rows.bytes < 16) return on_row(Kind<TwoEnds<8>>{});
  if (rows.bytes < 32) return on_row(Kind<TwoEnds<16>>{});
  if (rows.bytes < 64) return on_row(Kind<TwoEnds<32>>{});
  if (rows.bytes < 128) return on_row(Kind<TwoEnds<64>>{});
  return on_row(Kind<Long>{});
}

// Whether rows are written past the caches, their addresses permitting.
bool is_streamed(const Rows& rows) { return rows.is_flooding && rows.bytes >= 256 && rows.bytes % 64 == 0; }

template <class Row>
CopyRows near_copy(Kind<Row>) {
  return copy_near<Row>;
}
template <class T>
CopyRows near_copy(Kind<Packed<T>>) {
  return copy_elements<T>;
}

CopyRows choose_copy(const Rows& rows) {
  if (is_streamed(rows)) return copy_flooding;
  return with_row(rows, [&](auto kind) -> CopyRows {
    return rows.is_far ? copy_far<typename decltype(kind)::type> : near_copy(kind);
  });
}

}  // namespace
}  // namespace gather::cpu
