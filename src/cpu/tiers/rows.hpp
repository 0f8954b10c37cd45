#pragma once

#include <cstring>

#include "cpu/tiers/strided.hpp"

// Moves rows. A class such as Fixed or Long copies rows of one range of sizes. Part of body.hpp.
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
  // Stores the registers in the order of memory. A compiler may otherwise exchange stores, so that successive stores
  // alternate between cache lines. Some processors merge only successive stores to a line, and a copy within the caches
  // takes them 1.2 to 1.5 times as long.
  GATHER_INLINE void store_in_order(char* to) const {
    for (int64_t i = 0; i < count; ++i) {
      reinterpret_cast<Register*>(to)[i] = registers[i];
      asm volatile("" : : : "memory");
    }
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
    for (; at + 128 <= row; at += 128) Content<128>(from + at).store_in_order(to + at);
    if (row - at > 64) {
      Content<128>(from + row - 128).store_in_order(to + row - 128);
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

// Copies rows with non-temporal stores, which are slow for incomplete cache lines. So the bytes before the first whole
// line and after the last one are copied with other stores.
struct Streamed : Long {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t row) {
    const int64_t head = -static_cast<int64_t>(reinterpret_cast<intptr_t>(to)) & (cache_line - 1);
    const int64_t end = row - ((row - head) & (cache_line - 1));
    if (head) std::memcpy(to, from, static_cast<size_t>(head));
    for (int64_t at = head; at < end; at += Lanes::register_bytes) Lanes::stream(to + at, from + at);
    if (end < row) std::memcpy(to + end, from + end, static_cast<size_t>(row - end));
  }
  // Returns true if all rows are whole cache lines, or so long that their ends do not matter.
  static bool can_write(const char* out, int64_t stride, int64_t row) {
    constexpr int64_t long_row = 16 * 1024;
    const int64_t all = static_cast<int64_t>(reinterpret_cast<intptr_t>(out)) | stride | row;
    return row >= long_row || (all & (cache_line - 1)) == 0;
  }

 private:
  static constexpr int64_t cache_line = 64;
};

// Copies long rows with the string instruction of the processor, which writes whole cache lines without reading them
// first.
struct String : Long {
  static constexpr int64_t min_row = 4096;  // shorter rows do not amortise the start of the instruction

  static GATHER_INLINE void copy(char* to, const char* from, int64_t row) { Lanes::copy_string(to, from, row); }
  static bool can_write(Written written, int64_t row) {
    return written != Written::cached && row >= min_row && Lanes::has_fast_strings();
  }
};

template <class RowCopy>
struct RowKind {
  using type = RowCopy;
};

// Moves one line: rows at offsets in the table.
template <class RowCopy>
GATHER_INLINE void move_line(RowKind<RowCopy>, const RowBlock& block, char* rows, const char* table, int64_t first) {
  rows += first * block.row_stride;
#pragma GCC unroll 4
  for (int64_t i = first; i < block.n; ++i, rows += block.row_stride) {
    RowCopy::copy(rows, table + block.offsets[i], block.row_bytes);
  }
}

template <class T>
GATHER_INLINE void move_line(RowKind<Packed<T>>, const RowBlock& block, char* rows, const char* table, int64_t first) {
  if (block.row_stride == int64_t{sizeof(T)}) {
    char* out = rows + first * int64_t{sizeof(T)};
#pragma GCC unroll 4
    for (; first + Packed<T>::count <= block.n; first += Packed<T>::count, out += 16) {
      Packed<T>::copy_together(out, table, block.offsets + first);
    }
  }
  move_line(RowKind<Fixed<int64_t{sizeof(T)}>>{}, block, rows, table, first);
}

// Moves one line, and prefetches rows before they are moved.
template <class RowCopy>
GATHER_INLINE void move_line_prefetched(const RowBlock& block) {
  const int64_t ahead = block.ahead < block.n ? block.ahead : block.n;
  const auto fetch = [&](int64_t i) __attribute__((always_inline)) {
    RowCopy::prefetch_row(block.table + block.offsets[i], block.row_bytes);
  };
  for (int64_t i = 0; i < ahead; ++i) fetch(i);
  char* rows = block.rows;
  int64_t i = 0;
#pragma GCC unroll 4
  for (; i + ahead < block.n; ++i, rows += block.row_stride) {
    fetch(i + ahead);
    RowCopy::copy(rows, block.table + block.offsets[i], block.row_bytes);
  }
  for (; i < block.n; ++i, rows += block.row_stride) {
    RowCopy::copy(rows, block.table + block.offsets[i], block.row_bytes);
  }
}

// Moves the i-th row of the lines [first, last).
template <class RowCopy>
GATHER_INLINE void move_across(RowKind<RowCopy>, const RowBlock& block, int64_t i, int64_t first, int64_t last) {
  char* rows = block.rows + i * block.row_stride + first * block.next_rows;
  const char* table = block.table + block.offsets[i] + first * block.next_table;
#pragma GCC unroll 4
  for (int64_t l = first; l < last; ++l, rows += block.next_rows, table += block.next_table) {
    RowCopy::copy(rows, table, block.row_bytes);
  }
}

template <class T>
GATHER_INLINE void move_across(RowKind<Packed<T>>, const RowBlock& block, int64_t i, int64_t first, int64_t last) {
  constexpr int64_t bytes = sizeof(T);
  char* const rows = block.rows + i * block.row_stride + first * bytes;
  const char* const table = block.table + block.offsets[i] + first * block.next_table;
  if (block.next_rows == bytes && copy_strided<T>(rows, table, block.next_table, last - first)) return;
  move_across(RowKind<Fixed<bytes>>{}, block, i, first, last);
}

// The loop over lines is the inner loop if the rows of successive lines are contiguous, or if lines are short. If their
// rows of the table are far apart, it has few steps, so that the next row finds its cache lines in the L1 cache.
template <class RowCopy>
void move_rows(const RowBlock& given) {
  constexpr int64_t short_line = 8, long_row = 32, strip = 64, far = 512;
  const RowBlock block = given;  // a local variable, because stores of rows might change the caller's struct
  if (block.ahead > 0) return move_line_prefetched<RowCopy>(block);
  const bool is_contiguous = block.next_rows == block.row_bytes;
  const bool is_long = block.n >= short_line || block.row_bytes >= long_row;
  if (block.lines == 1 || block.next_offsets > 0 || (is_long && !is_contiguous)) {
    RowBlock line = block;
    for (int64_t l = 0; l < block.lines; ++l, line.offsets += block.next_offsets) {
      move_line(RowKind<RowCopy>{}, line, block.rows + l * block.next_rows, block.table + l * block.next_table, 0);
    }
    return;
  }
  const bool is_far = block.next_table >= far || block.next_table <= -far;
  const int64_t step = is_contiguous && !is_far ? block.lines : strip;
  for (int64_t first = 0; first < block.lines; first += step) {
    const int64_t last = block.lines - first < step ? block.lines : first + step;
    for (int64_t i = 0; i < block.n; ++i) move_across(RowKind<RowCopy>{}, block, i, first, last);
  }
}

void move_rows_streaming(const RowBlock& block) {
  if (!Streamed::can_write(block.rows, block.row_stride | block.next_rows, block.row_bytes)) {
    return String::can_write(Written::streamed, block.row_bytes) ? move_rows<String>(block) : move_rows<Long>(block);
  }
  move_rows<Streamed>(block);
  Lanes::fence();
}

// Calls on_row(RowKind<RowCopy>{}) with the class that copies rows of this size.
template <class OnRow>
auto with_row(int64_t bytes, OnRow on_row) {
  switch (bytes) {
    case 1: return on_row(RowKind<Packed<uint8_t>>{});
    case 2: return on_row(RowKind<Packed<uint16_t>>{});
    case 4: return on_row(RowKind<Packed<uint32_t>>{});
    case 8: return on_row(RowKind<Packed<uint64_t>>{});
    case 16: return on_row(RowKind<Fixed<16>>{});
    case 32: return on_row(RowKind<Fixed<32>>{});
    case 64: return on_row(RowKind<Fixed<64>>{});
    default: break;
  }
  if (bytes < 4) return on_row(RowKind<TwoEnds<2>>{});
  if (bytes < 8) return on_row(RowKind<TwoEnds<4>>{});
  if (bytes < 16) return on_row(RowKind<TwoEnds<8>>{});
  if (bytes < 32) return on_row(RowKind<TwoEnds<16>>{});
  if (bytes < 64) return on_row(RowKind<TwoEnds<32>>{});
  if (bytes < 128) return on_row(RowKind<TwoEnds<64>>{});
  return on_row(RowKind<Long>{});
}

MoveRows choose_copy(int64_t row, Written written) {
  if (written == Written::streamed && row >= 256) return move_rows_streaming;
  if (String::can_write(written, row)) return move_rows<String>;
  return with_row(row, [](auto kind) -> MoveRows { return move_rows<typename decltype(kind)::type>; });
}

}  // namespace
}  // namespace gather::cpu
