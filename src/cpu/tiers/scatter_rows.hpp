#pragma once

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

// Adds one element to another. Addresses need no alignment.
template <class T>
struct AddElement {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t) {
    T number, addend;
    std::memcpy(&number, to, sizeof number);
    std::memcpy(&addend, from, sizeof addend);
    number += addend;
    std::memcpy(to, &number, sizeof number);
  }
};

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

template <class T>
MoveRows choose_scatter_sum_of(int64_t row) {
  return row == int64_t{sizeof(T)} ? move_rows<IntoTable<AddElement<T>>> : nullptr;
}

MoveRows choose_scatter_sum(Addend addend, int64_t row) {
  switch (addend) {
    case Addend::integer32: return choose_scatter_sum_of<uint32_t>(row);
    case Addend::integer64: return choose_scatter_sum_of<uint64_t>(row);
    case Addend::float32: return choose_scatter_sum_of<float>(row);
    case Addend::float64: return choose_scatter_sum_of<double>(row);
    default: return nullptr;
  }
}

}  // namespace
}  // namespace gather::cpu
