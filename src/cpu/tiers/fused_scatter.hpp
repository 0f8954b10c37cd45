#pragma once

#include "cpu/tiers/fused.hpp"
#include "cpu/tiers/updates.hpp"

// Fused kernels of a scatter. They resolve tuples and write updates to the selected rows, or add to them, in one pass.
// They are the templates of fused.hpp with the opposite direction of copying. Part of body.hpp.
namespace gather::cpu {
namespace {

// Reverses the direction of RowCopy: copies an update to the selected row of the target.
template <class RowCopy>
struct IntoTable {
  static GATHER_INLINE void copy(char* update, const char* selected, int64_t row) {
    RowCopy::copy(const_cast<char*>(selected), update, row);  // TupleRun::table is a target, which is writable
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

// Rows of other sizes return NULL, because for them a fused kernel is not faster.
FusedKernel choose_fused_scatter(const Selection& selection, const RowTraits& rows) {
  if (!TupleGroups::can_walk(selection)) return nullptr;
  switch (rows.bytes) {
    case 1: return move_run<IntoTable<Fixed<1>>, false>;
    case 2: return move_run<IntoTable<Fixed<2>>, false>;
    case 4: return move_run<IntoTable<Fixed<4>>, false>;
    case 8: return move_run<IntoTable<Fixed<8>>, false>;
    default: return nullptr;
  }
}

template <class T>
FusedKernel choose_fused_scatter_sum_of(const RowTraits& rows) {
  if (rows.bytes != int64_t{sizeof(T)}) return nullptr;
  return rows.exceeds_cache ? move_run<IntoTable<AddElement<T>>, true> : move_run<IntoTable<AddElement<T>>, false>;
}

FusedKernel choose_fused_scatter_sum(const Selection& selection, Addend addend, const RowTraits& rows) {
  if (!TupleGroups::can_walk(selection)) return nullptr;
  switch (addend) {
    case Addend::integer32: return choose_fused_scatter_sum_of<uint32_t>(rows);
    case Addend::integer64: return choose_fused_scatter_sum_of<uint64_t>(rows);
    case Addend::float32: return choose_fused_scatter_sum_of<float>(rows);
    case Addend::float64: return choose_fused_scatter_sum_of<double>(rows);
    default: return nullptr;
  }
}

}  // namespace
}  // namespace gather::cpu
