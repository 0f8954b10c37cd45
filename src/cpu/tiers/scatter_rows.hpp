#pragma once

#include "cpu/tiers/reduce.hpp"
#include "cpu/tiers/rows.hpp"

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

// Adds n numbers to others. A complex number is two numbers. Addresses need no alignment.
template <class Kind, int64_t n>
struct AddNumbers {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t) {
    Kind::template store<n>(to, Add::of(Kind::template load<n>(to), Kind::template load<n>(from)));
  }
};

template <class Kind, int64_t n = 1>
constexpr MoveRows scatter_sum = move_rows<IntoTable<AddNumbers<Kind, n>>>;

MoveRows choose_scatter(int64_t row) {
  switch (row) {
    case 1: return move_rows<IntoTable<Fixed<1>>>;
    case 2: return move_rows<IntoTable<Fixed<2>>>;
    case 4: return move_rows<IntoTable<Fixed<4>>>;
    case 8: return move_rows<IntoTable<Fixed<8>>>;
    case 16: return move_rows<IntoTable<Fixed<16>>>;
    default: return nullptr;
  }
}

MoveRows choose_scatter_sum_of_integers(int64_t row) {
  switch (row) {
    case 1: return scatter_sum<Plain<uint8_t>>;
    case 2: return scatter_sum<Plain<uint16_t>>;
    case 4: return scatter_sum<Plain<uint32_t>>;
    case 8: return scatter_sum<Plain<uint64_t>>;
    default: return nullptr;
  }
}

MoveRows choose_scatter_sum(core::Number number, int64_t row) {
  switch (number) {
    case core::Number::signed_integer:
    case core::Number::unsigned_integer: return choose_scatter_sum_of_integers(row);
    case core::Number::brain_floating: return scatter_sum<BrainHalf>;
    case core::Number::complex: return row == 8 ? scatter_sum<Plain<float>, 2> : scatter_sum<Plain<double>, 2>;
    case core::Number::floating: break;
    default: return nullptr;
  }
  if (row == 2) return scatter_sum<Half>;
  return row == 4 ? scatter_sum<Plain<float>> : scatter_sum<Plain<double>>;
}

}  // namespace
}  // namespace gather::cpu
