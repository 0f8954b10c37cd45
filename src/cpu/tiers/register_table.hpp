#pragma once

#include "cpu/tiers/fused.hpp"

// Gathers from tables of up to 16 rows of up to 4 bytes, for example the code books of quantized numbers. The table is
// loaded into registers once for a line. A permutation then selects several rows at once. Part of body.hpp.
namespace gather::cpu {
namespace {

constexpr int64_t table_rows = 16;

// The number of tuples in a line that amortises loading the table into registers.
constexpr int64_t min_looked_up = 4 * table_rows;

template <class N, int64_t bytes>
GATHER_INLINE typename N::Table read_table(const Selection& selection, const char* base) {
  alignas(64) int32_t entries[table_rows] = {};
  for (int64_t i = 0; i < selection.size[0]; ++i) {
    __builtin_memcpy(entries + i, base + i * selection.stride[0], bytes);  // the low bytes
  }
  return N::table(entries);
}

// Loads N::count indices. Adds the size to negative ones if the rule wraps. Returns false if an index is out of bounds.
template <class N, class T, class L = Lanes>
GATHER_INLINE bool load_inside(const IndexRule& rule, const char* at, typename N::V* index) {
  if constexpr (sizeof(T) == 8) {
    constexpr size_t vectors = size_t{N::count} / L::count;
    const VectorRule<L> wide_rule(rule);
    typename L::V wide[vectors], bad = L::all(0);
    for (size_t i = 0; i < vectors; ++i) {
      wide[i] = L::wrap(L::template load<T>(at + i * L::count * sizeof(T)), wide_rule.wrap);
      bad |= wide[i] | (wide_rule.limit - wide[i]);
    }
    *index = L::narrow(wide);
    return !L::is_any_negative(bad);
  } else {
    *index = wrap_narrow<N, T>(rule, N::template load<T>(at));
    return !N::is_any_negative(*index | (N::all(static_cast<int32_t>(rule.limit)) - *index));
  }
}

// Copies the rows of a line to contiguous memory. Returns the number of rows that were copied before the first index
// out of bounds.
template <class N, class T, int64_t bytes>
GATHER_INLINE int64_t look_up_line(const Selection& selection, const Line& line) {
  const IndexRule rule(selection, 0);
  const auto table = read_table<N, bytes>(selection, line.table);
  int64_t i = 0;
  for (; i + N::count <= line.n; i += N::count) {
    typename N::V index;
    if (!load_inside<N, T>(rule, line.tuples + i * int64_t{sizeof(T)}, &index)) return i;
    N::template store<bytes>(line.rows + i * bytes, N::look_up(table, index));
  }
  for (; i < line.n; ++i) {
    Scalar::V bad = 0;
    const Scalar::V v = Scalar::load<T>(line.tuples + i * int64_t{sizeof(T)});
    const int64_t offset = product<Scalar, Outside::refused>(v, VectorRule<Scalar>(rule), &bad);
    if (bad < 0) return i;
    __builtin_memcpy(line.rows + i * bytes, line.table + offset, bytes);
  }
  return i;
}

template <class N, class T, int64_t bytes>
int64_t look_up(const Selection& selection, const TupleRun& run) {
  if (run.row_stride != bytes || run.n < min_looked_up) {
    return TupleGroups::can_walk(selection) ? move_run<Fixed<bytes>, false>(selection, run) : 0;
  }
  Line line(run);
  for (int64_t moved = 0;; line.next(run)) {
    const int64_t now = look_up_line<N, T, bytes>(selection, line);
    moved += now;
    if (now < line.n || moved == run.lines * line.n) return moved;
  }
}

// Returns NULL if the table does not fit the registers.
template <class N>
FusedKernel choose_look_up(const Selection& selection, const RowTraits& rows) {
  if constexpr (N::count > 0) {
    const bool fits = selection.components == 1 && selection.size[0] <= table_rows && selection.table_step == 0 &&
                      selection.outside == Outside::refused && is_dense(selection, selection.tuple_step);
    if (!fits) return nullptr;
    return with_type(selection.type, [&](auto type) -> FusedKernel {
      using T = decltype(type);
      switch (rows.bytes) {
        case 1: return look_up<N, T, 1>;
        case 2: return look_up<N, T, 2>;
        case 4: return look_up<N, T, 4>;
        default: return nullptr;
      }
    });
  } else {
    return nullptr;
  }
}

FusedKernel choose_fused_gather(const Selection& selection, const RowTraits& rows) {
  const FusedKernel look_up = choose_look_up<Narrow>(selection, rows);
  return look_up ? look_up : choose_fused_gather_of_memory(selection, rows);
}

}  // namespace
}  // namespace gather::cpu
