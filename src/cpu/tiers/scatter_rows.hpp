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

// Adds one element to another. Integers wrap around. Addresses need no alignment.
template <class T>
struct AddElement {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t) {
    T number, addend;
    std::memcpy(&number, to, sizeof number);
    std::memcpy(&addend, from, sizeof addend);
    number = static_cast<T>(number + addend);
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

MoveRows choose_scatter_sum(core::Number number, int64_t row) {
  const bool is_integer = number == core::Number::signed_integer || number == core::Number::unsigned_integer;
  if (!is_integer && number != core::Number::floating) return nullptr;
  switch (row) {
    case 1: return is_integer ? move_rows<IntoTable<AddElement<uint8_t>>> : nullptr;
    case 2: return is_integer ? move_rows<IntoTable<AddElement<uint16_t>>> : nullptr;
    case 4: return is_integer ? move_rows<IntoTable<AddElement<uint32_t>>> : move_rows<IntoTable<AddElement<float>>>;
    case 8: return is_integer ? move_rows<IntoTable<AddElement<uint64_t>>> : move_rows<IntoTable<AddElement<double>>>;
    default: return nullptr;
  }
}

}  // namespace
}  // namespace gather::cpu
