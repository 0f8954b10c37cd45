#pragma once

#include "cpu/tiers/take.hpp"

// Tables that fit registers: of up to 16 rows of up to 4 bytes, as those of quantized numbers are. A row is found by a
// permutation, many at a time, and nothing of the table is loaded for it. Part of body.hpp.
namespace gather::cpu {
namespace {

constexpr int64_t table_rows = 16;

// Filling the registers is worth it for so many tuples of a line.
constexpr int64_t least_looked_up = 4 * table_rows;

template <class N, int64_t bytes>
GATHER_INLINE typename N::Table read_table(const Selection& selection, const char* base) {
  alignas(64) int32_t entries[table_rows] = {};
  for (int64_t i = 0; i < selection.size[0]; ++i) {
    __builtin_memcpy(entries + i, base + i * selection.stride[0], bytes);  // the low bytes
  }
  return N::table(entries);
}

// As many indices as N counts, from the end on where they are negative. False: one is outside.
template <class N, class T, class L = Lanes>
GATHER_INLINE bool load_inside(const Demand& demand, const char* at, typename N::V* index) {
  if constexpr (sizeof(T) == 8) {
    constexpr size_t parts = size_t{N::count} / L::count;
    const Step<L> step(demand);
    typename L::V wide[parts], bad = L::all(0);
    for (size_t i = 0; i < parts; ++i) {
      wide[i] = L::wrap(L::template load<T>(at + i * L::count * sizeof(T)), step.wrap);
      bad |= wide[i] | (step.limit - wide[i]);
    }
    *index = L::narrow(wide);
    return !L::is_any_negative(bad);
  } else {
    *index = wrap_narrow<N, T>(demand, N::template load<T>(at));
    return !N::is_any_negative(*index | (N::all(static_cast<int32_t>(demand.limit)) - *index));
  }
}

// Rows of a line, side by side. Returns how many.
template <class N, class T, int64_t bytes>
GATHER_INLINE int64_t look_up_line(const Selection& selection, const Line& on) {
  const Demand demand(selection, 0);
  const auto table = read_table<N, bytes>(selection, on.base);
  int64_t i = 0;
  for (; i + N::count <= on.n; i += N::count) {
    typename N::V index;
    if (!load_inside<N, T>(demand, on.tuples + i * int64_t{sizeof(T)}, &index)) return i;
    N::template store<bytes>(on.out + i * bytes, N::look_up(table, index));
  }
  for (; i < on.n; ++i) {
    One::V bad = 0;
    const One::V v = One::load<T>(on.tuples + i * int64_t{sizeof(T)});
    const int64_t offset = product<One, Outside::refused>(v, Step<One>(demand), &bad);
    if (bad < 0) return i;
    __builtin_memcpy(on.out + i * bytes, on.base + offset, bytes);
  }
  return i;
}

template <class N, class T, int64_t bytes>
int64_t look_up(const Selection& selection, const Stretch& stretch) {
  if (stretch.out_step != bytes || stretch.n < least_looked_up) {
    return Groups::can_walk(selection) ? take<Fixed<bytes>, false>(selection, stretch) : 0;
  }
  Line line(stretch);
  for (int64_t taken = 0;; line.next(stretch)) {
    const int64_t now = look_up_line<N, T, bytes>(selection, line);
    taken += now;
    if (now < line.n || taken == stretch.lines * line.n) return taken;
  }
}

// NULL: the table is none that fits.
template <class N>
TakeRows choose_look_up(const Selection& selection, const Rows& rows) {
  if constexpr (N::count > 0) {
    const bool fits = selection.components == 1 && selection.size[0] <= table_rows && selection.row_step == 0 &&
                      selection.outside == Outside::refused && is_dense(selection, selection.tuple_step);
    if (!fits) return nullptr;
    return with_type(selection.type, [&](auto type) -> TakeRows {
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

TakeRows choose_take(const Selection& selection, const Rows& rows) {
  const TakeRows look_up = choose_look_up<Narrow>(selection, rows);
  return look_up ? look_up : choose_take_of_memory(selection, rows);
}

}  // namespace
}  // namespace gather::cpu
