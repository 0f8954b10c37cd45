#pragma once

#include "cpu/tiers/reduce.hpp"
#include "cpu/tiers/rows.hpp"
#include "cpu/tiers/scalar.hpp"

// Scatters rows of one element: writes them to a table, or adds them to it. The loops are those of a gather with the
// opposite direction of copying. Part of body.hpp.
namespace gather::cpu {
namespace {

// Reverses the direction of RowCopy: copies an update to the selected row of the target.
template <class RowCopy>
struct IntoTable {
  static GATHER_INLINE void copy(char* update, const char* selected, int64_t row) {
    RowCopy::copy(const_cast<char*>(selected), update, row);  // RowBlock::table is a target, which is writable
  }
  static GATHER_INLINE void prefetch_row(const char* selected, int64_t) { __builtin_prefetch(selected, 1); }
};

// Copies the i-th update of the lines [first, last). The rows of the target may be contiguous.
template <class T>
GATHER_INLINE void move_across(RowKind<IntoTable<Packed<T>>>, const RowBlock& block, int64_t i, int64_t first,
                               int64_t last) {
  constexpr int64_t bytes = sizeof(T);
  char* const target = const_cast<char*>(block.table) + block.offsets[i] + first * block.next_table;
  const char* const updates = block.rows + i * block.row_stride + first * block.next_rows;
  if (block.next_table == bytes && copy_strided<T>(target, updates, block.next_rows, last - first)) return;
  move_across(RowKind<IntoTable<Fixed<bytes>>>{}, block, i, first, last);
}

// Combines n numbers with others. Addresses need no alignment.
template <class Kind, class Operation, int64_t n>
struct CombineNumbers {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t) {
    Kind::template store<n>(to, Operation::of(Kind::template load<n>(to), Kind::template load<n>(from)));
  }
};

// A sum of complex numbers is two sums.
template <class Kind, int64_t n>
using AddNumbers = CombineNumbers<Kind, Add, n>;

// Copies or adds an update to a row of the target. Without the barrier, the compiler may use an address of two
// registers. With such an address, processors do not predict that a load reads what was stored just before.
template <class RowCopy>
GATHER_INLINE void copy_to(const char* row, const char* update) {
  char* at = const_cast<char*>(row);
  asm("" : "+r"(at));
  RowCopy::copy(at, update, 0);
}

template <class Kind, class Operation, int64_t n>
GATHER_INLINE void move_line(RowKind<IntoTable<CombineNumbers<Kind, Operation, n>>>, const RowBlock& block, char* rows,
                             const char* table, int64_t first) {
  rows += first * block.row_stride;
#pragma GCC unroll 4
  for (int64_t i = first; i < block.n; ++i, rows += block.row_stride) {
    copy_to<CombineNumbers<Kind, Operation, n>>(table + block.offsets[i], rows);
  }
}

// Adds numbers of half precision.
template <class Kind>
struct AddHalf : AddNumbers<Kind, 1> {};

// The size up to which rows of several elements have a kernel.
constexpr int64_t longest_short_row = 512;

// Adds a row of several numbers to another.
template <class Kind>
struct AddShortRow {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t row) {
    constexpr int64_t most = most_at_once<Kind>, few = few_at_once<Kind>;
    const ReduceRow<Kind, Add> rows{to, from};
    const int64_t count = row / int64_t{sizeof(typename Kind::Stored)};
    if (count >= most) return for_elements<most>(rows, count);
    if (count >= few) return for_elements<few>(rows, count);
    for_elements<1>(rows, count);
  }
};

// Adds one row of each of the first lines.
template <class AddRow>
GATHER_INLINE void add_to_each(RowKind<AddRow>, const RowBlock& block, const int64_t* offsets, char* rows) {
#pragma GCC unroll 4
  for (int64_t l = 0; l < turns; ++l) {
    IntoTable<AddRow>::copy(rows + l * block.next_rows,
                            block.table + l * block.next_table + offsets[l * block.next_offsets], block.row_bytes);
  }
}

// The lines have different targets, so their numbers are converted and added together.
template <class Kind>
GATHER_INLINE void add_to_each(RowKind<AddHalf<Kind>>, const RowBlock& block, const int64_t* offsets, char* rows) {
  using Stored = typename Kind::Stored;
  char* targets[turns];
  Numbers<Stored, turns> sums, updates;
#pragma GCC unroll 4
  for (int64_t l = 0; l < turns; ++l) {
    targets[l] = const_cast<char*>(block.table) + l * block.next_table + offsets[l * block.next_offsets];
    sums[l] = load_numbers<Stored, 1>(targets[l]);
    updates[l] = load_numbers<Stored, 1>(rows + l * block.next_rows);
  }
  Kind::template store<turns>(reinterpret_cast<char*>(&sums),
                              Add::of(Kind::template load<turns>(reinterpret_cast<const char*>(&sums)),
                                      Kind::template load<turns>(reinterpret_cast<const char*>(&updates))));
#pragma GCC unroll 4
  for (int64_t l = 0; l < turns; ++l) store_numbers<Stored>(targets[l], sums[l]);
}

// Adds rows of several lines alternately: the first row of each line, then the second row of each, and so on.
// Successive sums into one row wait for each other, but sums into rows of different lines do not. The lines are `apart`
// lines apart. The function then adds the lines that are `advance` lines further, `count` times in all.
template <class AddRow>
__attribute__((noinline)) void add_in_turns(const RowBlock& given, int64_t apart, int64_t advance, int64_t count) {
  const int64_t next_rows = advance * given.next_rows, next_table = advance * given.next_table,
                next_offsets = advance * given.next_offsets;
  RowBlock block = given;
  block.next_rows *= apart;
  block.next_table *= apart;
  block.next_offsets *= apart;
  for (; count > 0; --count) {
    const int64_t* offsets = block.offsets;
    char* rows = block.rows;
    for (int64_t i = 0; i < block.n; ++i, ++offsets, rows += block.row_stride) {
      add_to_each(RowKind<AddRow>{}, block, offsets, rows);
    }
    block.rows += next_rows;
    block.table += next_table;
    block.offsets += next_offsets;
  }
}

// Returns true if lines are so short that several of them are in the L1 cache at once.
GATHER_INLINE bool are_near(const RowBlock& lines) {
  constexpr int64_t far = 256;
  return lines.next_rows < far && lines.next_rows > -far && lines.next_table < far && lines.next_table > -far;
}

// Long lines that are added alternately are far apart. So successive groups of lines continue at the memory where the
// previous lines have ended, which the hardware prefetcher detects. The distance is an odd number of lines, because
// lines at a multiple of 4 KiB would replace each other in the L1 cache.
template <class AddRow>
void add_rows(const RowBlock& given) {
  const bool is_contiguous = given.next_rows == given.row_bytes && given.next_offsets == 0;
  if (given.lines < turns || is_contiguous) return move_rows<IntoTable<AddRow>>(given);
  RowBlock block = given;
  while (block.lines >= turns) {
    const int64_t most = block.lines / turns, odd = (most - 1) | 1;
    const int64_t count = are_near(block) ? most : odd;
    are_near(block) ? add_in_turns<AddRow>(block, 1, turns, count) : add_in_turns<AddRow>(block, odd, 1, count);
    block.rows += turns * count * block.next_rows;
    block.table += turns * count * block.next_table;
    block.offsets += turns * count * block.next_offsets;
    block.lines -= turns * count;
  }
  move_rows<IntoTable<AddRow>>(block);
}

MoveRows choose_scatter(int64_t row) {
  switch (row) {
    case 1: return move_rows<IntoTable<Packed<uint8_t>>>;
    case 2: return move_rows<IntoTable<Packed<uint16_t>>>;
    case 4: return move_rows<IntoTable<Packed<uint32_t>>>;
    case 8: return move_rows<IntoTable<Packed<uint64_t>>>;
    case 16: return move_rows<IntoTable<Fixed<16>>>;
    default: return nullptr;
  }
}

// Returns choose(AddNumbers) for the numbers of an element, or nullptr if they are halves or no numbers.
template <class Function, class Choose>
Function choose_numbers(core::Number number, int64_t item, const Choose& choose) {
  switch (number) {
    case core::Number::signed_integer:
    case core::Number::unsigned_integer: break;
    case core::Number::floating:
      if (item == 2) return nullptr;
      return item == 4 ? choose(AddNumbers<Plain<float>, 1>{}) : choose(AddNumbers<Plain<double>, 1>{});
    case core::Number::complex:
      return item == 8 ? choose(AddNumbers<Plain<float>, 2>{}) : choose(AddNumbers<Plain<double>, 2>{});
    default: return nullptr;
  }
  switch (item) {
    case 1: return choose(AddNumbers<Plain<uint8_t>, 1>{});
    case 2: return choose(AddNumbers<Plain<uint16_t>, 1>{});
    case 4: return choose(AddNumbers<Plain<uint32_t>, 1>{});
    case 8: return choose(AddNumbers<Plain<uint64_t>, 1>{});
    default: return nullptr;
  }
}

// Returns the kernel for rows of several elements. A row of complex numbers is a row of their parts.
template <class Kind, int64_t n>
MoveRows row_sum(AddNumbers<Kind, n>) {
  if constexpr (sizeof(typename Kind::Stored) < 4)
    return nullptr;
  else
    return add_rows<AddShortRow<Kind>>;
}

MoveRows choose_scatter_sum_of_rows(core::Number number, int64_t item, int64_t row) {
  if (row > longest_short_row) return nullptr;
  return choose_numbers<MoveRows>(number, item, [](auto sum) { return row_sum(sum); });
}

MoveRows choose_scatter_sum(core::Number number, int64_t item, int64_t row) {
  if (row > item) return choose_scatter_sum_of_rows(number, item, row);
  if (number == core::Number::brain_floating) return add_rows<AddHalf<BrainHalf>>;
  if (number == core::Number::floating && item == 2) return add_rows<AddHalf<Half>>;
  return choose_numbers<MoveRows>(number, item, [](auto sum) -> MoveRows { return add_rows<decltype(sum)>; });
}

// Combines rows of one element. There is no form for lines with equal offsets, and none that prefetches.
template <class Kind, class Operation>
void combine_rows(const RowBlock& given) {
  using Combine = CombineNumbers<Kind, Operation, 1>;
  RowBlock block = given;
  const int64_t count = block.lines / turns;
  add_in_turns<Combine>(block, 1, turns, count);
  for (int64_t l = count * turns; l < block.lines; ++l) {
    RowBlock line = block;
    line.offsets += l * block.next_offsets;
    move_line(RowKind<IntoTable<Combine>>{}, line, block.rows + l * block.next_rows, block.table + l * block.next_table,
              0);
  }
}

template <class Kind>
MoveRows choose_scatter_extreme(int32_t reduction) {
  return reduction == GTH_REDUCTION_MAX ? combine_rows<Kind, Max> : combine_rows<Kind, Min>;
}

template <class Kind>
MoveRows choose_scatter_floating(int32_t reduction) {
  return is_extreme(reduction) ? choose_scatter_extreme<Kind>(reduction) : combine_rows<Kind, Mul>;
}

MoveRows choose_scatter_integer(bool is_signed, int64_t item, int32_t reduction) {
  return with_integers(item, [&](auto with_sign, auto without) -> MoveRows {
    using Signed = Plain<decltype(with_sign)>;
    using Unsigned = Plain<decltype(without)>;
    if (!is_extreme(reduction)) return combine_rows<Unsigned, Mul>;
    return is_signed ? choose_scatter_extreme<Signed>(reduction) : choose_scatter_extreme<Unsigned>(reduction);
  });
}

// Returns the kernel that combines rows of one element by a reduction other than add, or NULL.
MoveRows choose_scatter_element(core::Number number, int64_t item, int32_t reduction) {
  switch (number) {
    case core::Number::signed_integer: return choose_scatter_integer(true, item, reduction);
    case core::Number::unsigned_integer: return choose_scatter_integer(false, item, reduction);
    case core::Number::brain_floating: return choose_scatter_floating<BrainHalf>(reduction);
    case core::Number::floating: break;
    default: return nullptr;
  }
  if (item == 2) return choose_scatter_floating<Half>(reduction);
  return item == 4 ? choose_scatter_floating<Plain<float>>(reduction)
                   : choose_scatter_floating<Plain<double>>(reduction);
}

}  // namespace
}  // namespace gather::cpu
