#pragma once

#include "cpu/tiers/rows.hpp"
#include "cpu/tiers/tuples.hpp"

// Resolves indices and moves their rows in one pass. Part of body.hpp.
namespace gather::cpu {
namespace {

// The number of tuples in a group. It is a multiple of the number of lanes in every tier.
constexpr int64_t group_tuples = 16;

// Resolves a group of indices. Returns false if an index is out of bounds. The offsets are then unspecified.
template <class T>
GATHER_INLINE bool resolve_group(const VectorRule<Lanes>& rule, const char* indices, const int64_t* steps,
                                 int64_t* offsets) {
  auto bad = Lanes::all(0);
  for (int64_t i = 0; i < group_tuples; i += Lanes::count) {
    const auto v = Lanes::template load<T>(indices + i * int64_t{sizeof(T)});
    auto offset = product<Lanes, Outside::refused>(v, rule, &bad);
    if (steps) offset += Lanes::values(steps + i);
    Lanes::store(offsets + i, offset);
  }
  return !Lanes::is_any_negative(bad);
}

// Copies a group of rows. `next` has the offsets of a later group, whose rows are prefetched.
template <class RowCopy>
GATHER_INLINE void copy_and_prefetch(RowKind<RowCopy>, const RowBlock& group, char* rows, const int64_t* next) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < group_tuples; ++i, rows += group.row_stride) {
    RowCopy::prefetch_row(group.table + next[i], group.row_bytes);
    RowCopy::copy(rows, group.table + group.offsets[i], group.row_bytes);
  }
}

template <class T>
GATHER_INLINE void copy_and_prefetch(RowKind<Packed<T>> kind, const RowBlock& group, char* rows, const int64_t* next) {
  for (int64_t i = 0; i < group_tuples; ++i) prefetch(group.table + next[i]);
  move_line(kind, group, rows, group.table, 0);
}

// The size from which rows have no fused kernel. Resolving them takes no time in comparison, and a last group that
// overlaps the one before it would copy long rows twice.
constexpr int64_t long_fused_row = 512;

// The last group overlaps the one before it if the tuples are not a multiple of a group. Its first rows are then copied
// twice, but not added twice. With `prefetches`, groups are resolved up to max_ahead groups before their rows are
// copied.
template <class RowCopy, class T, bool prefetches, bool adds = false>
int64_t move_fused_rows(const Selection& selection, const char* indices, int64_t, const int64_t* steps,
                        const RowBlock& given) {
  constexpr int64_t max_ahead = 4, slots = prefetches ? 2 * max_ahead : 1;
  // The alignment avoids loads across a page border, which are slow after stores.
  alignas(group_tuples * 8) int64_t ring[size_t{slots * group_tuples}];
  const auto slot = [&](int64_t g) { return ring + g % slots * group_tuples; };
  const VectorRule<Lanes> rule(IndexRule(selection, 0));
  RowBlock group = given;
  group.n = group_tuples;
  const int64_t last = given.n - group_tuples, wanted = given.ahead / group_tuples;
  if (last < 0) return 0;
  const auto first = [&](int64_t g) { return g * group_tuples < last ? g * group_tuples : last; };
  const int64_t ahead = !prefetches ? 0 : wanted < 1 ? 1 : wanted > max_ahead ? max_ahead : wanted;
  int64_t groups = (last + 2 * group_tuples - 1) / group_tuples, moved = given.n;
  for (int64_t g = 0; g < groups + ahead; ++g) {
    int64_t* const next = slot(g);
    const int64_t i = first(g);
    if (g < groups && !resolve_group<T>(rule, indices + i * int64_t{sizeof(T)}, steps ? steps + i : nullptr, next)) {
      moved = g * group_tuples;
      groups = g;
    }
    const bool fetches = prefetches && g < groups;
    if (g < ahead) {
      for (int64_t k = 0; fetches && k < group_tuples; ++k)
        RowCopy::prefetch_row(group.table + next[k], group.row_bytes);
      continue;
    }
    group.offsets = slot(g - ahead);
    char* const rows = given.rows + first(g - ahead) * group.row_stride;
    if (prefetches) {
      copy_and_prefetch(RowKind<RowCopy>{}, group, rows, fetches ? next : group.offsets);
    } else {
      if (g == groups) break;
      move_line(RowKind<RowCopy>{}, group, rows, group.table, adds ? g * group_tuples - first(g) : 0);
    }
  }
  return moved;
}

// Returns true if fused kernels have a form for these indices.
bool is_fusible(const Selection& selection) {
  return selection.components == 1 && (index_bytes(selection.type) == 8 || selection.type == IndexType::int32);
}

MoveFused choose_fused_gather(const Selection& selection, int64_t stride, int64_t row, bool prefetches) {
  const bool is_wide = index_bytes(selection.type) == 8;
  if (row >= long_fused_row || !is_fusible(selection) || !is_dense(selection, stride)) return nullptr;
  return with_row(row, [&](auto kind) -> MoveFused {
    using RowCopy = typename decltype(kind)::type;
    if (is_wide) return prefetches ? move_fused_rows<RowCopy, int64_t, true> : move_fused_rows<RowCopy, int64_t, false>;
    return prefetches ? move_fused_rows<RowCopy, int32_t, true> : move_fused_rows<RowCopy, int32_t, false>;
  });
}

}  // namespace
}  // namespace gather::cpu
