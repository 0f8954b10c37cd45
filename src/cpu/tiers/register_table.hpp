#pragma once

#include "cpu/tiers/tuples.hpp"

// Gathers from tables of up to 16 rows of up to 4 bytes, for example the code books of quantized numbers. The table is
// loaded into registers once for many indices. A permutation then selects several rows at once. Part of body.hpp.
namespace gather::cpu {
namespace {

constexpr int64_t table_rows = 16;

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

template <class N, class T, int64_t bytes>
int64_t look_up(const Selection& selection, const char* indices, const char* base, char* rows, int64_t n) {
  const IndexRule rule(selection, 0);
  const auto table = read_table<N, bytes>(selection, base);
  int64_t i = 0;
  for (; i + N::count <= n; i += N::count) {
    typename N::V index;
    if (!load_inside<N, T>(rule, indices + i * int64_t{sizeof(T)}, &index)) return i;
    N::template store<bytes>(rows + i * bytes, N::look_up(table, index));
  }
  for (; i < n; ++i) {
    Scalar::V bad = 0;
    const Scalar::V v = Scalar::load<T>(indices + i * int64_t{sizeof(T)});
    const int64_t offset = product<Scalar, Outside::refused>(v, VectorRule<Scalar>(rule), &bad);
    if (bad < 0) return i;
    __builtin_memcpy(rows + i * bytes, base + offset, bytes);
  }
  return i;
}

template <class N>
LookUp choose_look_up_of(const Selection& selection, int64_t stride, int64_t row) {
  if constexpr (N::count > 0) {
    const bool fits = selection.components == 1 && selection.size[0] <= table_rows &&
                      selection.outside == Outside::refused && is_dense(selection, stride);
    if (!fits) return nullptr;
    return with_type(selection.type, [&](auto type) -> LookUp {
      using T = decltype(type);
      switch (row) {
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

// Returns NULL if the table does not fit the registers.
LookUp choose_look_up(const Selection& selection, int64_t stride, int64_t row) {
  return choose_look_up_of<Narrow>(selection, stride, row);
}

}  // namespace
}  // namespace gather::cpu
