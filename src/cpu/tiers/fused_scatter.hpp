#pragma once

#include "cpu/tiers/fused_rows.hpp"
#include "cpu/tiers/scatter_rows.hpp"

// Scatters rows of one element, and resolves each index as it writes or adds the update. Part of body.hpp.
namespace gather::cpu {
namespace {

// Returns true if an index is in [0, size). A negative index is a large unsigned number.
GATHER_INLINE bool is_inside(int64_t index, int64_t size) {
  return static_cast<uint64_t>(index) < static_cast<uint64_t>(size);
}

// Copies or adds the update of each index to an element of a contiguous target. Stops at the first index that is out of
// bounds or counts from the end. Two passes would store each offset and load it again, which takes as long as a sum.
template <class RowCopy, int64_t row, class T>
int64_t scatter_fused(const Selection& selection, const char* indices, int64_t stride, const int64_t* steps,
                      const RowBlock& block) {
  // The values are copied, because the compiler assumes that a store of a row may change the referenced structs.
  const int64_t size = selection.size[0], count = block.n, row_stride = block.row_stride;
  const char *const table = block.table, *rows = block.rows;
  for (int64_t i = 0; i < count; ++i, indices += stride, rows += row_stride) {
    const int64_t index = Scalar::load<T>(indices);
    if (!is_inside(index, size)) return i;
    copy_to<RowCopy>(table + (steps ? steps[i] : 0) + index * row, rows);
  }
  return count;
}

// Returns true if most of the first indices are equal to the one before them.
template <class T>
GATHER_INLINE bool has_runs(const char* indices, int64_t stride, int64_t n) {
  constexpr int64_t min_count = 1024, sample = 64, many = 54;
  if (n < min_count) return false;
  int64_t equal = 0;
  for (int64_t i = 0; i < sample; ++i, indices += stride) {
    equal += Scalar::load<T>(indices) == Scalar::load<T>(indices + stride);
  }
  return equal >= many;
}

// Adds updates if most indices are equal to their predecessors. A sum of successive updates is computed in a register,
// because a load waits for an earlier store to the same address.
template <class Kind, int64_t n, class T>
__attribute__((noinline)) int64_t add_runs(const Selection& selection, const char* indices, int64_t stride,
                                           const RowBlock& block) {
  constexpr int64_t row = n * int64_t{sizeof(typename Kind::Stored)};
  const int64_t size = selection.size[0], count = block.n, row_stride = block.row_stride;
  char* const table = const_cast<char*>(block.table);
  const char* rows = block.rows;
  for (int64_t i = 0; i < count;) {
    const int64_t index = Scalar::load<T>(indices);
    if (!is_inside(index, size)) return i;
    auto sum = Kind::template load<n>(table + index * row);
    do {
      sum = Add::of(sum, Kind::template load<n>(rows));
      rows += row_stride;
      indices += stride;
    } while (++i < count && Scalar::load<T>(indices) == index);
    Kind::template store<n>(table + index * row, sum);
  }
  return count;
}

template <class Kind, int64_t n, class T>
int64_t add_fused(const Selection& selection, const char* indices, int64_t stride, const int64_t* steps,
                  const RowBlock& block) {
  if (!steps && has_runs<T>(indices, stride, block.n)) return add_runs<Kind, n, T>(selection, indices, stride, block);
  constexpr int64_t row = n * int64_t{sizeof(typename Kind::Stored)};
  return scatter_fused<AddNumbers<Kind, n>, row, T>(selection, indices, stride, steps, block);
}

template <class RowCopy, bool adds>
MoveFused choose_groups(const Selection& selection) {
  return index_bytes(selection.type) == 8 ? move_fused_rows<IntoTable<RowCopy>, int64_t, false, adds>
                                          : move_fused_rows<IntoTable<RowCopy>, int32_t, false, adds>;
}

// Elements that are not contiguous are often in several cache lines. Then groups are faster, because the processor
// loads more cache lines at the same time.
template <class Kind, int64_t n>
MoveFused choose_fused_sum(AddNumbers<Kind, n>, const Selection& selection, int64_t stride) {
  constexpr int64_t row = n * int64_t{sizeof(typename Kind::Stored)};
  if (selection.stride[0] != row)
    return is_dense(selection, stride) ? choose_groups<AddNumbers<Kind, n>, true>(selection) : nullptr;
  return index_bytes(selection.type) == 8 ? add_fused<Kind, n, int64_t> : add_fused<Kind, n, int32_t>;
}

template <class RowCopy, int64_t row>
MoveFused choose_fused_write(const Selection& selection, int64_t stride) {
  if (is_dense(selection, stride)) return choose_groups<RowCopy, false>(selection);
  if (selection.stride[0] != row) return nullptr;
  return index_bytes(selection.type) == 8 ? scatter_fused<Fixed<row>, row, int64_t>
                                          : scatter_fused<Fixed<row>, row, int32_t>;
}

MoveFused choose_fused_scatter(const Selection& selection, int64_t stride, core::Number number, int64_t item,
                               int64_t row) {
  if (row != item || !is_fusible(selection)) return nullptr;
  if (number != core::Number::none) {
    return choose_numbers<MoveFused>(number, item, [&](auto sum) { return choose_fused_sum(sum, selection, stride); });
  }
  switch (row) {
    case 1: return choose_fused_write<Packed<uint8_t>, 1>(selection, stride);
    case 2: return choose_fused_write<Packed<uint16_t>, 2>(selection, stride);
    case 4: return choose_fused_write<Packed<uint32_t>, 4>(selection, stride);
    case 8: return choose_fused_write<Packed<uint64_t>, 8>(selection, stride);
    case 16: return choose_fused_write<Fixed<16>, 16>(selection, stride);
    default: return nullptr;
  }
}

}  // namespace
}  // namespace gather::cpu
